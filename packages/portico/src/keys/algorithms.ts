import { OutOfRangeError } from '@portico/sql';
import type { JWK } from 'jose';
import type { SigningAlgorithm } from '../store/client.ts';

/** Used when no algorithm is requested: every OpenID Connect client must support it. */
export const DEFAULT_ALGORITHM = 'RS256' satisfies SigningAlgorithm;

/** An algorithm of ID tokens (RFC 7518 section 3.1), and the form of its keys. */
export interface AlgorithmForm {
  readonly name: SigningAlgorithm;
  /** What people call its keys. */
  readonly kind: string;
  readonly type: Pick<JWK, 'kty' | 'crv'>;
  /** The other public members. */
  readonly members: readonly (keyof JWK)[];
  /** Its hash function. */
  readonly hash: 'sha256' | 'sha512';
  /** Whether signing includes the hash; otherwise it runs before. */
  readonly hashesItself?: boolean;
  /**
   * What is wrong with these bytes, which are not a signature, if they are one in another encoding.
   */
  readonly encodingProblem?: (bytes: Uint8Array) => string | null;
}

/** RFC 7518 sections 3.3 and 6.3. */
const RS256: AlgorithmForm = {
  name: DEFAULT_ALGORITHM,
  kind: 'RSA',
  type: { kty: 'RSA' },
  members: ['n', 'e'],
  hash: 'sha256',
};

/** What runs before signing, as node:crypto wants it. */
export function getDigest({ hash, hashesItself = false }: AlgorithmForm): string | null {
  return hashesItself ? null : hash;
}

/** The algorithms that a server can have signing keys for: RS256, and those of its features. */
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

  /** Throws a RangeError unless keys can be made for this algorithm. */
  form(name: string): AlgorithmForm {
    const form = this.#forms.get(name);
    if (form !== undefined) return form;
    throw new OutOfRangeError(`A signing key is for one of ${this.names.join(', ')}`);
  }
}

/** How the log and refusals name a missing key, and the command that makes one. */
export function missingKey(algorithm: string): { readonly key: string; readonly command: string } {
  return algorithm === DEFAULT_ALGORITHM
    ? { key: 'no signing key', command: 'oauth:server:setup' }
    : { key: `no signing key for ${algorithm}`, command: `oauth:keys:generate --alg ${algorithm}` };
}
