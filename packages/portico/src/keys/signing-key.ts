import type { KeyObject } from 'node:crypto';
import type { JWK } from 'jose';
import type { SigningAlgorithm } from '../store/client.ts';

/**
 * A key that signs ID tokens now, has signed them, or will sign them. It is either a file in the
 * key directory or a KeySigner.
 */
export interface SigningKey {
  /**
   * The id of the key in the key set and in ID tokens. If Portico created the key, this is the
   * key's thumbprint (RFC 7638).
   */
  readonly kid: string;
  /** The only algorithm with which the key signs. */
  readonly algorithm: SigningAlgorithm;
  /** The hash function that the algorithm uses. */
  readonly hash: 'sha256' | 'sha512';
  /**
   * When the key was created, in milliseconds since 1970. 0 if unknown, for example for a
   * KeySigner.
   */
  readonly createdAt: number;
  /**
   * When the key starts to sign, in milliseconds since 1970. It signs until the next key of its
   * algorithm starts. For a key that was not staged, this is when it was generated. 0 for a
   * KeySigner without `signsFrom`, and for a key that an operator publishes before it signs.
   */
  readonly signsFrom: number;
  /**
   * True if the key waits until `signsFrom` before it signs, by the clock of each process.
   * Otherwise, it signs in a process as soon as this process finds it.
   */
  readonly isStaged: boolean;
  /** The name of the key's file in the key directory. Null for a KeySigner. */
  readonly file: string | null;
  /** The private key. It never leaves the process. Null for a KeySigner. */
  readonly privateKey: KeyObject | null;
  /** The public key that the server publishes, without private members. */
  readonly publicJwk: JWK;
  /**
   * Returns the JWS signature of these bytes (RFC 7518 section 3). Rejects with a SignerError if a
   * KeySigner does not respond or returns an invalid signature.
   */
  sign(data: Uint8Array): Promise<Uint8Array>;
}

/**
 * Thrown if the directory of the keys is unreadable, or if the newest key of an algorithm is. Also
 * thrown if the server had keys and the directory is now missing or empty. Without its keys, the
 * server can neither sign nor verify ID tokens.
 */
export class KeysLostError extends Error {
  override readonly name = 'KeysLostError';
  /** The keys may soon be available again. */
  readonly status = 503;

  constructor(message: string, cause: unknown) {
    super(message, { cause });
  }
}

/**
 * Thrown if a KeySigner returns no valid signature. Nothing was signed. The code or refresh token
 * in the request is still valid, so the client can repeat the request.
 */
export class SignerError extends Error {
  override readonly name = 'SignerError';
  readonly status = 503;

  /**
   * `problem` is for the log. It never contains the signer's text, which could include a password
   * or a part of the key.
   */
  constructor(kid: string, problem: string) {
    super(`The KeySigner of ${JSON.stringify(kid)} ${problem}`);
  }
}

/**
 * Thrown if a change to the keys fails. The message explains in one line what went wrong and what
 * was not done.
 *
 * @example
 * if (error instanceof KeyRotationError) log.warning(error.message);
 */
export class KeyRotationError extends Error {
  override readonly name = 'KeyRotationError';
}

/**
 * Returns the key that signs with an algorithm at the time `now`, in milliseconds since 1970.
 * `keys` must have the order of `KeyRing.all()`.
 */
export function findSigningKey(
  keys: readonly SigningKey[],
  algorithm: SigningAlgorithm,
  now: number,
): SigningKey | null {
  const own = keys.filter((each) => each.algorithm === algorithm);
  // If no key has started yet, use a staged key early. It is already published.
  return own.find((each) => hasBegun(each, now)) ?? own.at(-1) ?? null;
}

export function hasBegun({ isStaged, signsFrom }: SigningKey, now: number): boolean {
  return !isStaged || signsFrom <= now;
}

/**
 * Returns a start time for a key that must sign immediately. It is later than that of all key files
 * that are not staged, even if another machine's clock is ahead.
 */
export function signsFromNow(keys: readonly SigningKey[], now: number): number {
  const begun = keys.filter(({ isStaged, file }) => !isStaged && file !== null);
  return Math.max(now, (begun[0]?.signsFrom ?? 0) + 1);
}
