import type { KeyObject } from 'node:crypto';
import type { JWK } from 'jose';
import type { SigningAlgorithm } from '../store/client.ts';

/**
 * A key that ID tokens are, were or will be signed with: a file of the key directory, or a
 * KeySigner.
 */
export interface SigningKey {
  /**
   * The key's identifier in the key set and in ID tokens: its thumbprint (RFC 7638) if it was
   * generated here.
   */
  readonly kid: string;
  /** The only algorithm that it signs with. */
  readonly algorithm: SigningAlgorithm;
  /** The hash function of its algorithm. */
  readonly hash: 'sha256' | 'sha512';
  /** When it was generated, in milliseconds since 1970. 0 for a KeySigner that does not say. */
  readonly createdAt: number;
  /**
   * When it starts to sign, in milliseconds since 1970, until the next one of its algorithm starts.
   * Unless it was staged, this is when it was generated.
   */
  readonly signsFrom: number;
  /**
   * Whether it waits for `signsFrom`, by the clock of each process. Any other key signs in every
   * process that sees it, until that process sees a newer one.
   */
  readonly isStaged: boolean;
  /** The name of its file in the key directory. Null for a KeySigner. */
  readonly file: string | null;
  /** Never leaves the process. Null for a KeySigner, which has it elsewhere. */
  readonly privateKey: KeyObject | null;
  /** As published, without private members. */
  readonly publicJwk: JWK;
  /**
   * The JWS signature (RFC 7518 section 3) of these bytes. Rejects with a SignerError when a
   * KeySigner does not answer, or answers anything but this key's signature.
   */
  sign(data: Uint8Array): Promise<Uint8Array>;
}

/**
 * Keys existed, but the directory is now gone or empty, or it or the newest key of an algorithm
 * cannot be read. Without keys, nothing can be signed or verified.
 */
export class KeysLostError extends Error {
  override readonly name = 'KeysLostError';
  /** As for an unreachable store: it may be back soon. */
  readonly status = 503;

  constructor(message: string, cause: unknown) {
    super(message, { cause });
  }
}

/**
 * A KeySigner returned no valid signature. Nothing was signed or spent, and a retry may succeed.
 */
export class SignerError extends Error {
  override readonly name = 'SignerError';
  readonly status = 503;

  /**
   * `problem` is for the log. It contains nothing that the signer said, because that may be a
   * password or a part of the key.
   */
  constructor(kid: string, problem: string) {
    super(`The KeySigner of ${JSON.stringify(kid)} ${problem}`);
  }
}

/**
 * The requested change to the keys is not possible, and nothing has changed. The message gives the
 * reason in one line, for the caller.
 */
export class KeyRotationError extends Error {
  override readonly name = 'KeyRotationError';
}

/**
 * The key that signs for an algorithm at this time, in milliseconds since 1970, or null. `keys` are
 * in the order of a key ring.
 */
export function buildSigningKey(
  keys: readonly SigningKey[],
  algorithm: SigningAlgorithm,
  now: number,
): SigningKey | null {
  const own = keys.filter((each) => each.algorithm === algorithm);
  // If there is no other key, a staged key signs before its time. It is already published.
  return own.find((each) => hasBegun(each, now)) ?? own.at(-1) ?? null;
}

/** Whether it no longer waits for its time. */
export function hasBegun({ isStaged, signsFrom }: SigningKey, now: number): boolean {
  return !isStaged || signsFrom <= now;
}

/** Another machine's clock may be ahead, but the new key must sign from now on. */
export function signsFromNow(keys: readonly SigningKey[], now: number): number {
  const begun = keys.filter(({ isStaged, file }) => !isStaged && file !== null);
  return Math.max(now, (begun[0]?.signsFrom ?? 0) + 1);
}
