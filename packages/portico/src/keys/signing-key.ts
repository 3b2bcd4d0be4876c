import type { KeyObject } from 'node:crypto';
import type { JWK } from 'jose';
import type { SigningAlgorithm } from '../store/client.ts';

/**
 * A key that signs ID tokens now, signed them earlier, or will sign them. It is a file in the key
 * directory or a KeySigner.
 */
export interface SigningKey {
  /**
   * The key's identifier in the key set and in ID tokens. For a key that Portico generated, this is
   * its thumbprint (RFC 7638).
   */
  readonly kid: string;
  /** The only algorithm that the key signs with. */
  readonly algorithm: SigningAlgorithm;
  /** The algorithm's hash function. */
  readonly hash: 'sha256' | 'sha512';
  /** When the key was generated, in milliseconds since 1970. 0 for a KeySigner. */
  readonly createdAt: number;
  /**
   * When the key starts to sign, in milliseconds since 1970. It signs until the next key of its
   * algorithm starts. For a key that was not staged, this is when it was generated.
   */
  readonly signsFrom: number;
  /**
   * Whether the key waits until `signsFrom` before it signs, by the clock of each process. A key
   * that does not wait signs in a process as soon as the process finds it.
   */
  readonly isStaged: boolean;
  /** The key's file name in the key directory. Null for a KeySigner. */
  readonly file: string | null;
  /** The private key, which never leaves the process. Null for a KeySigner. */
  readonly privateKey: KeyObject | null;
  /** The published key, without private members. */
  readonly publicJwk: JWK;
  /**
   * Returns the JWS signature for these bytes (RFC 7518 section 3). Rejects with a SignerError if a
   * KeySigner does not respond or returns an invalid signature.
   */
  sign(data: Uint8Array): Promise<Uint8Array>;
}

/**
 * Thrown if the server had keys earlier, and now:
 *
 * - the directory is missing, empty or unreadable, or
 * - the newest key of an algorithm is unreadable.
 *
 * Without keys, the server can neither sign nor verify.
 */
export class KeysLostError extends Error {
  override readonly name = 'KeysLostError';
  /** 503, as for an unavailable store, because the keys may soon be available again. */
  readonly status = 503;

  constructor(message: string, cause: unknown) {
    super(message, { cause });
  }
}

/**
 * Thrown if a KeySigner returns no valid signature. Nothing was signed, and the authorization code
 * or refresh token in the request was not used up. The client can repeat the request.
 */
export class SignerError extends Error {
  override readonly name = 'SignerError';
  readonly status = 503;

  /**
   * `problem` is for the log. It never contains text from the signer, because such text could
   * include a password or a part of the key.
   */
  constructor(kid: string, problem: string) {
    super(`The KeySigner of ${JSON.stringify(kid)} ${problem}`);
  }
}

/**
 * Thrown if a change to the keys is not possible. Nothing has changed. The message says why, in one
 * line.
 */
export class KeyRotationError extends Error {
  override readonly name = 'KeyRotationError';
}

/**
 * Returns the key that signs with an algorithm at this time, or null. `now` is in milliseconds
 * since 1970. Pass `keys` in the order of `KeyRing.all()`.
 */
export function findSigningKey(
  keys: readonly SigningKey[],
  algorithm: SigningAlgorithm,
  now: number,
): SigningKey | null {
  const own = keys.filter((each) => each.algorithm === algorithm);
  // If no key has started to sign, use a staged key before its time. It is already published.
  return own.find((each) => hasBegun(each, now)) ?? own.at(-1) ?? null;
}

/** Whether the key may sign at this time. */
export function hasBegun({ isStaged, signsFrom }: SigningKey, now: number): boolean {
  return !isStaged || signsFrom <= now;
}

/**
 * Returns a start time for a key that must sign immediately. It is later than the start times of
 * all other keys, even if another machine's clock is ahead.
 */
export function signsFromNow(keys: readonly SigningKey[], now: number): number {
  const begun = keys.filter(({ isStaged, file }) => !isStaged && file !== null);
  return Math.max(now, (begun[0]?.signsFrom ?? 0) + 1);
}
