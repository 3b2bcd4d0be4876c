import { OutOfRangeError } from '@portico/sql';
import type { JWK } from 'jose';
import type { SigningAlgorithm } from '../store/client.ts';

/** Every OpenID provider must support this algorithm (OpenID Connect Core section 15.1). */
export const DEFAULT_ALGORITHM = 'RS256' satisfies SigningAlgorithm;

/** An algorithm that signs ID tokens (RFC 7518 section 3.1), and the form of its keys. */
export interface AlgorithmForm {
  readonly name: SigningAlgorithm;
  /** For error messages, for example `RSA`. */
  readonly kind: string;
  readonly type: Pick<JWK, 'kty' | 'crv'>;
  /** The members of a public key, except `kty` and `crv`. */
  readonly members: readonly (keyof JWK)[];
  readonly hash: 'sha256' | 'sha512';
  /** True if the signing function computes the hash. Otherwise, Portico computes it first. */
  readonly hashesItself?: boolean;
  /**
   * Returns the problem if the bytes are a signature in another encoding. Otherwise returns null.
   */
  readonly encodingProblem?: (bytes: Uint8Array) => string | null;
}

/** RSASSA-PKCS1-v1_5 with SHA-256 (RFC 7518 sections 3.3 and 6.3). */
const RS256: AlgorithmForm = {
  name: DEFAULT_ALGORITHM,
  kind: 'RSA',
  type: { kty: 'RSA' },
  members: ['n', 'e'],
  hash: 'sha256',
};

/**
 * Returns node:crypto's name of the hash to compute before signing. Returns null if the signing
 * function computes the hash.
 */
export function getDigest({ hash, hashesItself = false }: AlgorithmForm): string | null {
  return hashesItself ? null : hash;
}

/** RS256, and the algorithms that features add. */
export class SigningAlgorithms {
  readonly #forms: ReadonlyMap<string, AlgorithmForm>;

  constructor(more: readonly AlgorithmForm[] = []) {
    this.#forms = new Map([RS256, ...more].map((form) => [form.name, form]));
  }

  get names(): readonly SigningAlgorithm[] {
    return [...this.#forms.values()].map(({ name }) => name);
  }

  has(name: unknown): name is SigningAlgorithm {
    return typeof name === 'string' && this.#forms.has(name);
  }

  /** Throws a RangeError if the server does not support the algorithm. */
  form(name: string): AlgorithmForm {
    const form = this.#forms.get(name);
    if (form !== undefined) return form;
    throw new OutOfRangeError(
      `The algorithm of a signing key must be one of ${this.names.join(', ')}`,
    );
  }
}

/** Returns texts for messages: which key is missing, and which command creates it. */
export function missingKey(algorithm: string): { readonly key: string; readonly command: string } {
  return algorithm === DEFAULT_ALGORITHM
    ? { key: 'no signing key', command: 'oauth:server:setup' }
    : { key: `no signing key for ${algorithm}`, command: `oauth:keys:generate --alg ${algorithm}` };
}
