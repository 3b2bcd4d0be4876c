import type { KeyObject } from 'node:crypto';
import type { JWK } from 'jose';
import type { SigningAlgorithm } from '../store/client.ts';

/**
 * A key that signs ID tokens now, earlier or later: a file in the key directory, or a KeySigner.
 */
export interface SigningKey {
  /**
   * The key's identifier in the key set and in ID tokens. For a key that Portico generated, its
   * thumbprint (RFC 7638).
   */
  readonly kid: string;
  /** The only algorithm that the key signs with. */
  readonly algorithm: SigningAlgorithm;
  /** The algorithm's hash function. */
  readonly hash: 'sha256' | 'sha512';
  /**
   * When the key was generated, in milliseconds since 1970. 0 for a KeySigner that does not specify
   * it.
   */
  readonly createdAt: number;
  /**
   * When the key starts to sign, in milliseconds since 1970. It signs until its algorithm's next
   * key starts. For a key that was not staged, this is when it was generated.
   */
  readonly signsFrom: number;
  /**
   * Whether the key waits for `signsFrom`, by each process's clock. Any other key signs in every
   * process that sees it, until that process sees a newer one.
   */
  readonly isStaged: boolean;
  /** The key's file name in the key directory. Null for a KeySigner. */
  readonly file: string | null;
  /** The private key, which never leaves the process. Null for a KeySigner. */
  readonly privateKey: KeyObject | null;
  /** The published key, without private members. */
  readonly publicJwk: JWK;
  /**
   * Returns the JWS signature (RFC 7518 section 3) for these bytes. Rejects with a SignerError if a
   * KeySigner does not answer, or returns anything but this key's signature.
   */
  sign(data: Uint8Array): Promise<Uint8Array>;
}

/**
 * Thrown if keys existed, but the directory is now missing, empty or unreadable, or an algorithm's
 * newest key is unreadable. Without keys, nothing can be signed or verified.
 */
export class KeysLostError extends Error {
  override readonly name = 'KeysLostError';
  /** 503, as for an unreachable store: the keys may be back soon. */
  readonly status = 503;

  constructor(message: string, cause: unknown) {
    super(message, { cause });
  }
}

/**
 * Thrown if a KeySigner returns no valid signature. Nothing was signed or spent, and a retry may
 * succeed.
 */
export class SignerError extends Error {
  override readonly name = 'SignerError';
  readonly status = 503;

  /**
   * `problem` is for the log. It contains no text from the signer, because that may be a password
   * or a part of the key.
   */
  constructor(kid: string, problem: string) {
    super(`The KeySigner of ${JSON.stringify(kid)} ${problem}`);
  }
}

/**
 * Thrown if the requested change to the keys is not possible. Nothing has changed. The message
 * gives the reason in one line.
 */
export class KeyRotationError extends Error {
  override readonly name = 'KeyRotationError';
}

/**
 * Returns the key that signs for an algorithm at this time, in milliseconds since 1970, or null.
 * `keys` are in a key ring's order.
 */
export function findSigningKey(
  keys: readonly SigningKey[],
  algorithm: SigningAlgorithm,
  now: number,
): SigningKey | null {
  const own = keys.filter((each) => each.algorithm === algorithm);
  // If there is no other key, a staged key signs before its time. It is already published.
  return own.find((each) => hasBegun(each, now)) ?? own.at(-1) ?? null;
}

/** Whether the key no longer waits for its time. */
export function hasBegun({ isStaged, signsFrom }: SigningKey, now: number): boolean {
  return !isStaged || signsFrom <= now;
}

/**
 * Returns the time for a key that signs from now on. It is later than all other keys' times,
 * because another machine's clock may be ahead.
 */
export function signsFromNow(keys: readonly SigningKey[], now: number): number {
  const begun = keys.filter(({ isStaged, file }) => !isStaged && file !== null);
  return Math.max(now, (begun[0]?.signsFrom ?? 0) + 1);
}
