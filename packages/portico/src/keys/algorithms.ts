import { OutOfRangeError } from '@portico/sql';
import type { JWK } from 'jose';
import type { SigningAlgorithm } from '../store/client.ts';

/** The default algorithm. Every OpenID Connect client must support it. */
export const DEFAULT_ALGORITHM = 'RS256' satisfies SigningAlgorithm;

/** An algorithm for ID tokens (RFC 7518 section 3.1), and the form of its keys. */
export interface AlgorithmForm {
  readonly name: SigningAlgorithm;
  /** The key's type in error messages, for example `RSA`. */
  readonly kind: string;
  readonly type: Pick<JWK, 'kty' | 'crv'>;
  /** The names of the public members of a key, except `kty` and `crv`. */
  readonly members: readonly (keyof JWK)[];
  /** The algorithm's hash function. */
  readonly hash: 'sha256' | 'sha512';
  /**
   * Whether the signing function computes the hash itself. Otherwise, the hash is computed first.
   */
  readonly hashesItself?: boolean;
  /**
   * Called for an invalid signature. Returns the problem if the bytes are a signature in another
   * encoding. Otherwise returns null.
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
 * Returns the hash function to run before signing, by its name in node:crypto. Returns null if the
 * signing function computes the hash.
 */
export function getDigest({ hash, hashesItself = false }: AlgorithmForm): string | null {
  return hashesItself ? null : hash;
}

/**
 * The algorithms that the server can sign ID tokens with: RS256, and the algorithms that features
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
   * Returns the form of this algorithm's keys. Throws a RangeError if the server does not support
   * the algorithm.
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
 * Returns two texts for the log and for errors: which key is missing, and the command that creates
 * it.
 */
export function missingKey(algorithm: string): { readonly key: string; readonly command: string } {
  return algorithm === DEFAULT_ALGORITHM
    ? { key: 'no signing key', command: 'oauth:server:setup' }
    : { key: `no signing key for ${algorithm}`, command: `oauth:keys:generate --alg ${algorithm}` };
}
