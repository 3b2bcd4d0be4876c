import type { KeyObject } from 'node:crypto';
import type { JWK } from 'jose';
import type { SigningAlgorithm } from '../store/client.ts';

/** A key that ID tokens are or were signed with, or will be: a file of the key directory, or a KeySigner. */
export interface SigningKey {
  /** The key's identifier in the key set and in ID tokens: its thumbprint (RFC 7638) when it was generated here. */
  readonly kid: string;
  /** What it signs with, and nothing else. */
  readonly algorithm: SigningAlgorithm;
  /** When it was generated, milliseconds since 1970; of a KeySigner that does not say it, 0. */
  readonly createdAt: number;
  /**
   * From when it signs, milliseconds since 1970, until the next one of its algorithm does: from when it was generated, unless it was
   * staged.
   */
  readonly signsFrom: number;
  /** Whether it waits for `signsFrom` by the clock of each process. Every other key signs wherever it is seen, until it sees a newer one. */
  readonly isStaged: boolean;
  /** The name of its file in the key directory; null of a KeySigner. */
  readonly file: string | null;
  /** Never leaves the process; null of a KeySigner, which has it elsewhere. */
  readonly privateKey: KeyObject | null;
  /** As published, without any private part. */
  readonly publicJwk: JWK;
  /**
   * The signature of a JWS (RFC 7518 section 3) over these bytes. Rejects with a SignerError when a KeySigner does not answer, or
   * answers anything but a signature by this key.
   */
  sign(data: Uint8Array): Promise<Uint8Array>;
}

/**
 * Keys were known, and the directory is gone or empty; or it, or the newest key of an algorithm, cannot be read: without them nothing can be signed or
 * proved.
 */
export class KeysLostError extends Error {
  override readonly name = 'KeysLostError';
  /** Like an unreachable store: it may be back soon. */
  readonly status = 503;

  constructor(message: string, cause: unknown) {
    super(message, { cause });
  }
}

/** A KeySigner gave no signature that its public key verifies: nothing was signed or spent, and the same may succeed later. */
export class SignerError extends Error {
  override readonly name = 'SignerError';
  readonly status = 503;

  /** `problem` is for the log, and holds nothing that the signer said: that may be a password or a part of the key. */
  constructor(kid: string, problem: string) {
    super(`The KeySigner of ${JSON.stringify(kid)} ${problem}`);
  }
}

/** What is asked of the keys cannot be done, and nothing was changed; the message says why, in one line for whoever asked. */
export class KeyRotationError extends Error {
  override readonly name = 'KeyRotationError';
}

/** By which key of these an algorithm signs at this time, milliseconds since 1970; null without any. They are in the order of a ring. */
export function signingKeyOf(
  keys: readonly SigningKey[],
  algorithm: SigningAlgorithm,
  now: number,
): SigningKey | null {
  const own = keys.filter((each) => each.algorithm === algorithm);
  // Where nothing else could sign, a staged key does before its time: it is published.
  return own.find((each) => hasBegun(each, now)) ?? own.at(-1) ?? null;
}

/** Whether it is not waiting for its time any more. */
export function hasBegun({ isStaged, signsFrom }: SigningKey, now: number): boolean {
  return !isStaged || signsFrom <= now;
}

/** Another machine's clock may be ahead of this one, yet the new key is the one to sign from now on. */
export function signsFromNow(keys: readonly SigningKey[], now: number): number {
  const begun = keys.filter(({ isStaged, file }) => !isStaged && file !== null);
  return Math.max(now, (begun[0]?.signsFrom ?? 0) + 1);
}
