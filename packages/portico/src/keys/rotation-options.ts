import path from 'node:path';
import { OutOfRangeError } from '@portico/sql';
import type { Acting } from '../auditing/audit.ts';
import type { SigningAlgorithm } from '../store/client.ts';
import { DEFAULT_ALGORITHM, missingKey, type SigningAlgorithms } from './algorithms.ts';
import type { KeyFiles } from './key-files.ts';
import { isStagedFile } from './key-names.ts';
import { hasBegun, KeyRotationError, findSigningKey, type SigningKey } from './signing-key.ts';
import { LONGEST_LIFETIME, STAGED_FOR } from './times.ts';

export const UNCHANGED = 'no key was replaced';

/** Options for rotating keys. */
export interface RotationOptions extends Acting {
  /** The algorithm whose key is replaced. Defaults to all algorithms that have a key. */
  readonly algorithm?: SigningAlgorithm;
  /**
   * If true, the new key signs immediately and all other keys of its algorithm are removed. ID
   * tokens that were signed with the removed keys become invalid. Use this option if keys may have
   * leaked. Defaults to false.
   */
  readonly now?: boolean;
  /**
   * Replaces a key only if it has been signing for at least this many seconds. By default, replaces
   * keys of any age. Cannot be combined with `now`.
   */
  readonly ifOlderThan?: number;
  /**
   * How long a new key is published before it signs, in seconds. Defaults to 905, which is also the
   * minimum. Use a longer time if new key files reach some of your machines late. Cannot be
   * combined with `now`.
   */
  readonly stagedFor?: number;
}

/**
 * For root, throws if a staged key does not belong to the owner of the directory. The server runs
 * as this owner and could not read the key.
 */
export async function requireReadable(files: KeyFiles): Promise<void> {
  if (process.geteuid?.() !== 0) return;
  const { owner, foreign } = await files.owners();
  const [staged] = foreign.filter(({ name }) => isStagedFile(name));
  if (owner === null || owner.uid === 0 || staged === undefined) return;
  throw new KeyRotationError(
    `The staged key ${path.join(files.directory, staged.name)} belongs to uid ${staged.uid}, ` +
      `but its directory belongs to uid ${owner.uid}, and that user cannot read the key: ` +
      `${UNCHANGED}. Remove this key. Then run the command as the account that runs the server`,
  );
}

export function requireOptions(
  { algorithm, now, ifOlderThan, stagedFor }: RotationOptions,
  algorithms: SigningAlgorithms,
): void {
  if (algorithm !== undefined) algorithms.form(algorithm);
  if (now === true && (ifOlderThan !== undefined || stagedFor !== undefined)) {
    throw new OutOfRangeError('now cannot be combined with ifOlderThan or stagedFor');
  }
  requireSeconds('The age', ifOlderThan, 1);
  requireSeconds('The time that a key is staged for', stagedFor, STAGED_FOR);
}

function requireSeconds(what: string, seconds: number | undefined, least: number): void {
  if (seconds === undefined) return;
  if (Number.isInteger(seconds) && seconds >= least && seconds <= LONGEST_LIFETIME) return;
  throw new OutOfRangeError(`${what} must be from ${least} to ${LONGEST_LIFETIME} seconds`);
}

/** Returns the keys that this rotation must replace. */
export function dueKeys(
  keys: readonly SigningKey[],
  known: readonly SigningAlgorithm[],
  { algorithm, now: atOnce, ifOlderThan }: RotationOptions,
  now: number,
): readonly SigningKey[] {
  const signing = known.flatMap((each) => findSigningKey(keys, each, now) ?? []);
  const asked =
    algorithm === undefined ? signing : signing.filter((each) => each.algorithm === algorithm);
  if (asked.length === 0) {
    const { key, command } = missingKey(algorithm ?? DEFAULT_ALGORITHM);
    throw new KeyRotationError(`There is ${key} to replace. First run npx portico ${command}`);
  }
  const files = asked.filter(({ file }) => file !== null);
  if (files.length === 0 && (algorithm !== undefined || atOnce === true)) {
    throw new KeyRotationError(
      'A KeySigner signs the ID tokens, so there is no key file to replace. Pass another ' +
        'KeySigner to the server (docs/keys.md)',
    );
  }
  if (atOnce === true) return files;
  const isOld = ({ signsFrom }: SigningKey) =>
    ifOlderThan === undefined || now - signsFrom >= ifOlderThan * 1000;
  return files.filter((each) => !hasSuccessor(each, keys, now) && isOld(each));
}

function hasSuccessor(
  { algorithm }: SigningKey,
  keys: readonly SigningKey[],
  now: number,
): boolean {
  return keys.some((key) => key.algorithm === algorithm && !hasBegun(key, now));
}
