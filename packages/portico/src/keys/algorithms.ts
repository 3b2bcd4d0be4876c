import { OutOfRangeError } from '@portico/sql';
import type { JWK } from 'jose';
import type { SigningAlgorithm } from '../store/client.ts';

/**
 * The default algorithm for ID tokens. Every OpenID provider must support it (OpenID Connect Core
 * section 15.1).
 */
export const DEFAULT_ALGORITHM = 'RS256' satisfies SigningAlgorithm;

/** An algorithm that signs ID tokens (RFC 7518 section 3.1), and the form of its keys. */
export interface AlgorithmForm {
  readonly name: SigningAlgorithm;
  /** The name of the key type in error messages, for example `RSA`. */
  readonly kind: string;
  readonly type: Pick<JWK, 'kty' | 'crv'>;
  /** The names of a public key's members, except `kty` and `crv`. */
  readonly members: readonly (keyof JWK)[];
  /** The hash function that the algorithm uses. */
  readonly hash: 'sha256' | 'sha512';
  /** Whether the signing function computes the hash. If false, Portico computes the hash first. */
  readonly hashesItself?: boolean;
  /**
   * Finds out why a signature is invalid. Returns the problem if the bytes are a signature in
   * another encoding. Otherwise, returns null.
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
 * Returns the name in node:crypto of the hash function to run before signing. Returns null if the
 * signing function computes the hash.
 */
export function getDigest({ hash, hashesItself = false }: AlgorithmForm): string | null {
  return hashesItself ? null : hash;
}

/**
 * The algorithms with which the server can sign ID tokens: RS256, and the algorithms that features
 * add.
 */
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

  /**
   * Returns the form of the keys for this algorithm. Throws a RangeError if the server does not
   * support the algorithm.
   */
  form(name: string): AlgorithmForm {
    const form = this.#forms.get(name);
    if (form !== undefined) return form;
    throw new OutOfRangeError(
      `The algorithm of a signing key must be one of ${this.names.join(', ')}`,
    );
  }
}

/**
 * Returns two texts for log messages and errors: which key is missing, and which command creates
 * it.
 */
export function missingKey(algorithm: string): { readonly key: string; readonly command: string } {
  return algorithm === DEFAULT_ALGORITHM
    ? { key: 'no signing key', command: 'oauth:server:setup' }
    : { key: `no signing key for ${algorithm}`, command: `oauth:keys:generate --alg ${algorithm}` };
}
