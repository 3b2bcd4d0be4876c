import path from 'node:path';
import type { SigningAlgorithm } from '../store/client.ts';
import { readNumber } from './key-names.ts';
import { hasBegun, buildSigningKey, type SigningKey } from './signing-key.ts';
import { RELOAD_AFTER, STAGED_FOR } from './times.ts';

/**
 * What a key does. `staged`: published, and signs from a given time on. `published`: held back by
 * its name until an operator renames it. `signing`. `retired`: only verifies what it has signed.
 */
export type KeyState = 'staged' | 'published' | 'signing' | 'retired';

/** A signing key, for an operator. Times are milliseconds since 1970. */
export interface KeyDescription {
  /** The key's identifier in the key set and in ID tokens. */
  readonly kid: string;
  /** The algorithm that it signs with. */
  readonly algorithm: SigningAlgorithm;
  /** When it was generated. Null if unknown. */
  readonly createdAt: number | null;
  /** Its current state. */
  readonly state: KeyState;
  /** When it starts or started to sign. Null if unknown. */
  readonly signsFrom: number | null;
  /** When it stopped signing. Null unless it is retired, and if unknown. */
  readonly retiredAt: number | null;
  /**
   * When `rotate` may remove it: no ID token that it signed is valid or cached any more. Null if
   * unknown.
   */
  readonly removableAt: number | null;
  /** Its file. Null for a KeySigner. */
  readonly file: string | null;
}

/** `keys` are in the order of a key ring; `idTokenLifetime` is in seconds. */
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
  if (buildSigningKey(keys, key.algorithm, now) === key) return 'signing';
  if (!hasBegun(key, now)) return 'staged';
  return isHeld(key) ? 'published' : 'retired';
}

/**
 * Its name makes it the oldest of all. Operators name a key this way if it must be published
 * everywhere before it signs.
 */
function isHeld({ file, isStaged }: SigningKey): boolean {
  return file !== null && !isStaged && readNumber(file) === 0;
}

/** When the next key began to sign. */
function retiredSince(key: SigningKey, keys: readonly SigningKey[], now: number): number | null {
  const own = keys.filter(({ algorithm }) => algorithm === key.algorithm);
  const next = own.slice(0, own.indexOf(key)).findLast((each) => hasBegun(each, now));
  return next === undefined || next.signsFrom === 0 ? null : next.signsFrom;
}
