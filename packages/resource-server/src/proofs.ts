import { createHash } from 'node:crypto';
import { bindingRefusal, type BindingOffer, type BindingRefusal } from '../../portico/src/http/challenges.ts';
import { dpopOffer } from '../../portico/src/http/dpop.ts';
import { isLiteralTarget } from '../../portico/src/http/request-target.ts';
import { checkDpopProof, DpopProofError, type DpopProof, type DpopProofProblem } from '../../portico/src/jws/dpop-proof.ts';
import { VERIFIED_ALGORITHMS } from '../../portico/src/jws/public-keys.ts';
import { codeWithin } from './causes.ts';

/** Tokens that are bound to a key of their client (RFC 9449), at an API in another process. */
export interface DpopOptions {
  /**
   * Where the API is for the outside, such as `https://api.example.com`: a proof is for that and the path of the request, whatever its `Host`
   * says. With a path when a proxy takes that away before a request arrives.
   */
  readonly publicUrl: string;
  /** Whether tokens have to be bound; false unless given, and the scheme Bearer is good for those that are not. */
  readonly required?: boolean;
  /**
   * Whether this is the first use of a proof, which it then is, in all processes of the API: keeps the hash until `expiresAt`, milliseconds
   * since 1970. Without it each process knows those that it has seen itself, so that a stolen proof is good once in each of them.
   */
  readonly claim?: (hash: string, expiresAt: number) => boolean | Promise<boolean>;
  /**
   * How many proofs a process remembers without `claim`; 100,000 unless given, some 15 MB. Each is remembered for two or three minutes. When
   * there are more, what comes next is answered 503.
   */
  readonly remembered?: number;
}

/** How a request was sent, as a proof says it. */
export interface SentRequest {
  /** Such as `GET`. */
  readonly method: string;
  /** Path and query as they arrived, in front of whatever the framework makes of them. */
  readonly target: string;
  /** The header field `DPoP`; several are one value, with commas. Null without it. */
  readonly dpop: string | null;
}

/** More proofs are remembered than may be: nobody can know whether one was used before. */
class RememberedError extends Error {
  override readonly name = 'RememberedError';
}

/** Why a request in the scheme DPoP is refused, as far as its proof is concerned. */
export type ProofReason =
  | 'proof_missing'
  | 'proof_target'
  | DpopProofProblem
  | 'proof_of_another_key'
  | 'proof_used'
  | 'proofs_too_many'
  | 'claim_failed';

export interface ProofRefusal {
  readonly reason: ProofReason;
  /** What is wrong with the proof, in words that repeat nothing of it, or the code of an error. */
  readonly detail: string | null;
}

const MOST_REMEMBERED = 100_000;

/** Checks proofs at an API elsewhere. */
export class Proofs {
  readonly offer: BindingOffer;
  /** The origin of the API, and the path that a proxy takes away. */
  readonly #base: string;
  readonly #claim: NonNullable<DpopOptions['claim']>;

  /** Throws a TypeError for a public URL that is none. */
  constructor({ publicUrl, required = false, remembered = MOST_REMEMBERED, claim }: DpopOptions) {
    const { origin, pathname, search, hash } = new URL(publicUrl);
    if (search !== '' || hash !== '')
      throw new TypeError('dpop.publicUrl: must have no query and no fragment');
    this.offer = dpopOffer({ required, algorithms: VERIFIED_ALGORITHMS });
    this.#base = `${origin}${pathname.endsWith('/') ? pathname.slice(0, -1) : pathname}`;
    this.#claim = claim ?? remembering(remembered);
  }

  /** Null when the request proves this key and its proof is used for the first time. */
  async refusal(token: string, boundTo: string, request: SentRequest): Promise<ProofRefusal | null> {
    const proof = this.#read(token, request);
    if ('reason' in proof) return proof;
    return proof.thumbprint === boundTo ? this.#use(proof) : refused('proof_of_another_key');
  }

  #read(token: string, { method, target, dpop }: SentRequest): DpopProof | ProofRefusal {
    const url = this.#publicUrl(target);
    if (dpop === null) return refused('proof_missing');
    if (url === null) return refused('proof_target');
    try {
      return checkDpopProof(dpop, { method, url, accessToken: token, now: Date.now() });
    } catch (error) {
      if (error instanceof DpopProofError) return refused(error.problem, error.message);
      throw error;
    }
  }

  #publicUrl(target: string): string | null {
    const query = target.indexOf('?');
    const path = query < 0 ? target : target.slice(0, query);
    return path.startsWith('/') && isLiteralTarget(path) ? `${this.#base}${path}` : null;
  }

  /** Null when this is the first use of the proof. */
  async #use({ thumbprint, jti, expiresAt }: DpopProof): Promise<ProofRefusal | null> {
    const used = createHash('sha256')
      .update(JSON.stringify([thumbprint, jti]))
      .digest('base64url');
    try {
      const isNew: unknown = await this.#claim(used, expiresAt);
      // Or the 1 of an engine. Whatever else an application in JavaScript answers, such as rows, is no yes.
      return isNew === true || isNew === 1 ? null : refused('proof_used');
    } catch (error) {
      if (error instanceof RememberedError) return refused('proofs_too_many');
      return refused('claim_failed', codeWithin(error));
    }
  }
}

function refused(reason: ProofReason, detail: string | null = null): ProofRefusal {
  return { reason, detail };
}

/** In memory. What has expired is looked for when twice as much is there as was left the last time, so a use costs the same however many there are. */
function remembering(most: number): NonNullable<DpopOptions['claim']> {
  const used = new Map<string, number>();
  let sweepAt = 1024;
  return (hash, expiresAt) => {
    if (used.has(hash)) return false;
    if (used.size >= Math.min(sweepAt, most)) {
      const now = Date.now();
      for (const [each, until] of used) if (until <= now) used.delete(each);
      sweepAt = Math.max(1024, used.size * 2);
      if (used.size >= most) throw new RememberedError(`${most} proofs are remembered, and none has expired`);
    }
    used.set(hash, expiresAt);
    return true;
  };
}

/** How a refusal speaks of DPoP; null where it is switched off. */
export function refusalOf(proofs: Proofs | null, presented: boolean): BindingRefusal | null {
  return bindingRefusal(proofs?.offer ?? null, presented ? { answer: null } : undefined);
}
