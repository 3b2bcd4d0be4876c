import path from 'node:path';
import type { SigningAlgorithm } from '../store/client.ts';
import { readNumber } from './key-names.ts';
import { hasBegun, findSigningKey, type SigningKey } from './signing-key.ts';
import { RELOAD_AFTER, STAGED_FOR } from './times.ts';

/**
 * The state of a key:
 *
 * - `staged`: the key is published and will start to sign at a set time.
 * - `published`: the key is published, but signs only after an operator renames its file.
 * - `signing`: the key currently signs.
 * - `retired`: the key no longer signs. It is still published to verify its earlier signatures.
 */
export type KeyState = 'staged' | 'published' | 'signing' | 'retired';

/** Describes a signing key for operators. All times are in milliseconds since 1970. */
export interface KeyDescription {
  /** The id of the key in the key set and in ID tokens. */
  readonly kid: string;
  /** The algorithm with which the key signs. */
  readonly algorithm: SigningAlgorithm;
  /** When the key was created. Null if unknown. */
  readonly createdAt: number | null;
  /** The key's current state. */
  readonly state: KeyState;
  /** When the key started or will start to sign. Null if unknown. */
  readonly signsFrom: number | null;
  /** When the key stopped signing. Null if the key is not retired or the time is unknown. */
  readonly retiredAt: number | null;
  /**
   * When `rotate` may remove the key. By then, all ID tokens that the key signed have expired. Null
   * if the key is not retired, if it is a KeySigner, or if the time is unknown.
   */
  readonly removableAt: number | null;
  /** The path of the key's file. Null for a KeySigner. */
  readonly file: string | null;
}

/** `keys` must have the order of `KeyRing.all()`. `idTokenLifetime` is in seconds. */
export function describeKeys(
  keys: readonly SigningKey[],
  directory: string,
  idTokenLifetime: number,
  now: number,
): readonly KeyDescription[] {
  return keys.map((key) => describeKey(key, keys, directory, idTokenLifetime, now));
}

function describeKey(
  key: SigningKey,
  keys: readonly SigningKey[],
  directory: string,
  idTokenLifetime: number,
  now: number,
): KeyDescription {
  const { kid, algorithm, createdAt, signsFrom, file } = key;
  const state = getState(key, keys, now);
  const retiredAt = state === 'retired' ? retiredSince(key, keys, now) : null;
  const margin = RELOAD_AFTER + (idTokenLifetime + STAGED_FOR) * 1000;
  return {
    kid,
    algorithm,
    createdAt: createdAt === 0 ? null : createdAt,
    state,
    signsFrom: signsFrom === 0 ? null : signsFrom,
    retiredAt,
    removableAt: retiredAt === null || file === null ? null : retiredAt + margin,
    file: file === null ? null : path.join(directory, file),
  };
}

function getState(key: SigningKey, keys: readonly SigningKey[], now: number): KeyState {
  if (findSigningKey(keys, key.algorithm, now) === key) return 'signing';
  if (!hasBegun(key, now)) return 'staged';
  return isHeld(key) ? 'published' : 'retired';
}

/**
 * Returns true if the file's name makes this key the oldest. Operators choose such a name to
 * publish a key in all processes before it signs.
 */
function isHeld({ file, isStaged }: SigningKey): boolean {
  return file !== null && !isStaged && readNumber(file) === 0;
}

/** Returns when the next key started to sign, or null if unknown. */
function retiredSince(key: SigningKey, keys: readonly SigningKey[], now: number): number | null {
  const own = keys.filter(({ algorithm }) => algorithm === key.algorithm);
  const next = own.slice(0, own.indexOf(key)).findLast((each) => hasBegun(each, now));
  return next === undefined || next.signsFrom === 0 ? null : next.signsFrom;
}
