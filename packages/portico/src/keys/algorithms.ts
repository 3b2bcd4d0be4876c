import { OutOfRangeError } from '@portico/sql';
import type { JWK } from 'jose';
import type { SigningAlgorithm } from '../store/client.ts';

/** Used when no algorithm is requested: every OpenID Connect client must support it. */
export const DEFAULT_ALGORITHM = 'RS256' satisfies SigningAlgorithm;

/** The keys of an algorithm (RFC 7518 section 6, RFC 8037 section 2). */
export interface KeyForm {
  readonly kind: string;
  readonly type: Pick<JWK, 'kty' | 'crv'>;
  /** The other public members. */
  readonly members: readonly (keyof JWK)[];
  /** Part of the file's name, before `.json`. */
  readonly mark: string;
}

export const FORMS: Readonly<Record<SigningAlgorithm, KeyForm>> = {
  RS256: { kind: 'RSA', type: { kty: 'RSA' }, members: ['n', 'e'], mark: '' },
  ES256: { kind: 'P-256', type: { kty: 'EC', crv: 'P-256' }, members: ['x', 'y'], mark: '.ES256' },
  EdDSA: { kind: 'Ed25519', type: { kty: 'OKP', crv: 'Ed25519' }, members: ['x'], mark: '.EdDSA' },
};

export const SIGNING_ALGORITHMS = Object.keys(FORMS) as readonly SigningAlgorithm[];

/** The hash function that runs before signing. Ed25519 hashes by itself. */
export const DIGESTS: Readonly<Record<SigningAlgorithm, string | null>> = {
  RS256: 'sha256',
  ES256: 'sha256',
  EdDSA: null,
};

/** Throws a RangeError unless keys can be made for this algorithm. */
export function requireAlgorithm(algorithm: SigningAlgorithm): void {
  if (SIGNING_ALGORITHMS.includes(algorithm)) return;
  throw new OutOfRangeError(`A signing key is for one of ${SIGNING_ALGORITHMS.join(', ')}`);
}

/** How the log and refusals name a missing key, and the command that makes one. */
export function missingKey(algorithm: SigningAlgorithm): { readonly key: string; readonly command: string } {
  return algorithm === DEFAULT_ALGORITHM
    ? { key: 'no signing key', command: 'oauth:server:setup' }
    : { key: `no signing key for ${algorithm}`, command: `oauth:keys:generate --alg ${algorithm}` };
}
