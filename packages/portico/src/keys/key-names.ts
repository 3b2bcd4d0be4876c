import { tokenHash } from '../crypto.ts';
import type { SigningAlgorithm } from '../store/client.ts';
import { DEFAULT_ALGORITHM, type SigningAlgorithms } from './algorithms.ts';
import type { SigningKey } from './signing-key.ts';

/**
 * A name without an algorithm means RS256. Older releases support only RS256, and ignore files with
 * an algorithm in their name.
 */
const KEY_FILE = /^(\d+)-[A-Za-z0-9_-]+(?:\.([A-Za-z0-9]+))?\.json$/;
/**
 * Matches the file name of a staged key. The name comes from the key that it will replace, so each
 * key has only one successor. The file contains the start time.
 *
 * Older releases do not know staged keys. They treat a staged key as the oldest one: they publish
 * it, but sign with another key.
 */
const STAGED_FILE = /^0-next-/;

/** Sorts the highest number first. Equal numbers are in reverse alphabetical order. */
export function newestFirst(one: string, other: string): number {
  return readNumber(other) - readNumber(one) || (one < other ? 1 : -1);
}

/**
 * Returns the number at the start of the name: a time in milliseconds since 1970. It is 0 for a
 * staged key, and for a key that an operator publishes before it signs.
 */
export function readNumber(name: string): number {
  return Number(KEY_FILE.exec(name)?.[1]);
}

export function getAlgorithm(name: string): SigningAlgorithm {
  return (markIn(name) ?? DEFAULT_ALGORITHM) as SigningAlgorithm;
}

function markIn(name: string): string | undefined {
  return KEY_FILE.exec(name)?.[2];
}

/** RS256 never appears in a name. */
export function isKeyFile(name: string, algorithms: SigningAlgorithms): boolean {
  const mark = markIn(name);
  return (
    KEY_FILE.test(name) &&
    (mark === undefined || (mark !== DEFAULT_ALGORITHM && algorithms.has(mark)))
  );
}

function getAlgorithmMark(algorithm: SigningAlgorithm): string {
  return algorithm === DEFAULT_ALGORITHM ? '' : `.${algorithm}`;
}

export function fileName(signsFrom: number, kid: string, algorithm: SigningAlgorithm): string {
  return `${signsFrom}-${kid}${getAlgorithmMark(algorithm)}.json`;
}

export function stagedFileName({ kid, algorithm }: SigningKey): string {
  return `0-next-${tokenHash(kid)}${getAlgorithmMark(algorithm)}.json`;
}

export function isStagedFile(name: string): boolean {
  return STAGED_FILE.test(name);
}
