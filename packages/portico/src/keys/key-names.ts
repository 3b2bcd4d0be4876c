import { tokenHash } from '../crypto.ts';
import type { SigningAlgorithm } from '../store/client.ts';
import { DEFAULT_ALGORITHM, type SigningAlgorithms } from './algorithms.ts';
import type { SigningKey } from './signing-key.ts';

/** Without an algorithm it is RS256. A release that only knows RS256 ignores all other files. */
const KEY_FILE = /^(\d+)-[A-Za-z0-9_-]+(?:\.([A-Za-z0-9]+))?\.json$/;
/**
 * The file of a staged key. Its name comes from the key that it replaces, so there is only one
 * successor. Its time is in the file. A release that does not know staged keys takes it for the
 * oldest key: it publishes it, and signs with another.
 */
const STAGED_FILE = /^0-next-/;

/** By the number in the name, then by the name itself. */
export function newestFirst(one: string, other: string): number {
  return readNumber(other) - readNumber(one) || (one < other ? 1 : -1);
}

/** Milliseconds since 1970. 0 for a key that is published and has never signed. */
export function readNumber(name: string): number {
  return Number(KEY_FILE.exec(name)?.[1]);
}

/** Which algorithm its name says that a key file is for. */
export function getAlgorithm(name: string): SigningAlgorithm {
  return (markIn(name) ?? DEFAULT_ALGORITHM) as SigningAlgorithm;
}

function markIn(name: string): string | undefined {
  return KEY_FILE.exec(name)?.[2];
}

/** Whether a key file can have this name. RS256 is never written in it. */
export function isKeyFile(name: string, algorithms: SigningAlgorithms): boolean {
  const mark = markIn(name);
  return KEY_FILE.test(name) && (mark === undefined || (mark !== DEFAULT_ALGORITHM && algorithms.has(mark)));
}

function getAlgorithmMark(algorithm: SigningAlgorithm): string {
  return algorithm === DEFAULT_ALGORITHM ? '' : `.${algorithm}`;
}

export function fileName(signsFrom: number, kid: string, algorithm: SigningAlgorithm): string {
  return `${signsFrom}-${kid}${getAlgorithmMark(algorithm)}.json`;
}

/** The file name of this key's only staged successor. */
export function stagedFileName({ kid, algorithm }: SigningKey): string {
  return `0-next-${tokenHash(kid)}${getAlgorithmMark(algorithm)}.json`;
}

export function isStagedFile(name: string): boolean {
  return STAGED_FILE.test(name);
}
