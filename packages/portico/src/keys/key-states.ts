import path from 'node:path';
import type { SigningAlgorithm } from '../store/client.ts';
import { numberOf } from './key-files.ts';
import { hasBegun, signingKeyOf, type SigningKey } from './signing-key.ts';
import { RELOAD_AFTER, STAGED_FOR } from './times.ts';

/**
 * What a key does: `staged`, published and to sign from a time on; `published`, and held back by its name until somebody renames it;
 * `signing`; `retired`, and only verifies what it has signed.
 */
export type KeyState = 'staged' | 'published' | 'signing' | 'retired';

/** A signing key, as an operator is told of it. Times are milliseconds since 1970. */
export interface KeyDescription {
  /** The key's identifier in the key set and in ID tokens. */
  readonly kid: string;
  /** What it signs with. */
  readonly algorithm: SigningAlgorithm;
  /** When it was generated; null when nothing says so. */
  readonly createdAt: number | null;
  /** What it does now. */
  readonly state: KeyState;
  /** From when it signs, or has signed; null when nothing says so. */
  readonly signsFrom: number | null;
  /** When it stopped signing; null unless it is retired, and when nothing says so. */
  readonly retiredAt: number | null;
  /** From when `rotate` removes it: no ID token that it signed lives any more, nor is it in a cache. Null when that is not known. */
  readonly removableAt: number | null;
  /** The file; null of a KeySigner. */
  readonly file: string | null;
}

export interface DescribingOptions {
  readonly directory: string;
  /** Seconds. */
  readonly idTokenLifetime: number;
  readonly now: number;
}

/** `keys` are in the order of a ring. */
export function describeKeys(
  keys: readonly SigningKey[],
  options: DescribingOptions,
): readonly KeyDescription[] {
  return keys.map((key) => describeKey(key, keys, options));
}

function describeKey(
  key: SigningKey,
  keys: readonly SigningKey[],
  { directory, idTokenLifetime, now }: DescribingOptions,
): KeyDescription {
  const { kid, algorithm, createdAt, signsFrom, file } = key;
  const state = stateOf(key, keys, now);
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

function stateOf(key: SigningKey, keys: readonly SigningKey[], now: number): KeyState {
  if (signingKeyOf(keys, key.algorithm, now) === key) return 'signing';
  if (!hasBegun(key, now)) return 'staged';
  return isHeld(key) ? 'published' : 'retired';
}

/** By its name the oldest of all, as somebody names a key that has to be published everywhere before it signs anywhere. */
function isHeld({ file, isStaged }: SigningKey): boolean {
  return file !== null && !isStaged && numberOf(file) === 0;
}

/** When the next key began to sign. */
function retiredSince(key: SigningKey, keys: readonly SigningKey[], now: number): number | null {
  const own = keys.filter(({ algorithm }) => algorithm === key.algorithm);
  const next = own.slice(0, own.indexOf(key)).findLast((each) => hasBegun(each, now));
  return next === undefined || next.signsFrom === 0 ? null : next.signsFrom;
}
