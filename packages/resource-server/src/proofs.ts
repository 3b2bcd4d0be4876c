import { createHash } from 'node:crypto';
import {
  type BindingOffer,
  bindingRefusal,
  type BindingRefusal,
  checkDpopProof,
  dpopOffer,
  type DpopProof,
  DpopProofError,
  isLiteralTarget,
  VERIFIED_ALGORITHMS,
} from 'portico/extension';
import { codeWithin } from './causes.ts';
import type { DpopOptions, ProofReason, SentRequest } from './contract.ts';

/**
 * Thrown when the process cannot remember more proofs and so cannot detect a second use of a proof.
 */
class RememberedError extends Error {
  override readonly name = 'RememberedError';
}

export interface ProofRefusal {
  readonly reason: ProofReason;
  /**
   * What is wrong with the proof, or the code of an error. It never contains parts of the proof.
   */
  readonly detail: string | null;
}

const MOST_REMEMBERED = 100_000;

/** Checks proofs for an API that runs in a separate process from the authorization server. */
export class Proofs {
  readonly offer: BindingOffer;
  /** The API's origin, plus the path prefix that a proxy removes. */
  readonly #base: string;
  readonly #claim: NonNullable<DpopOptions['claim']>;

  /** Throws a TypeError if the public URL is invalid. */
  constructor({ publicUrl, required = false, remembered = MOST_REMEMBERED, claim }: DpopOptions) {
    const { origin, pathname, search, hash } = new URL(publicUrl);
    if (search !== '' || hash !== '')
      throw new TypeError('dpop.publicUrl: must have no query and no fragment');
    this.offer = dpopOffer({ required, algorithms: VERIFIED_ALGORITHMS });
    this.#base = `${origin}${pathname.endsWith('/') ? pathname.slice(0, -1) : pathname}`;
    this.#claim = claim ?? remembering(remembered);
  }

  /**
   * Returns why the request is rejected, or null if it has a valid and unused proof for this key.
   */
  async refusal(
    token: string,
    boundTo: string,
    request: SentRequest,
  ): Promise<ProofRefusal | null> {
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

  /** Marks the proof as used. Returns null if it was not used before. */
  async #use({ thumbprint, jti, expiresAt }: DpopProof): Promise<ProofRefusal | null> {
    const used = createHash('sha256')
      .update(JSON.stringify([thumbprint, jti]))
      .digest('base64url');
    try {
      const isNew: unknown = await this.#claim(used, expiresAt);
      // Also accept 1, because some database drivers return it. Reject all other values, for
      // example rows.
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

/**
 * Remembers proofs in memory. Removes expired proofs each time the number of proofs has doubled, so
 * that the average cost per proof stays constant.
 */
function remembering(most: number): NonNullable<DpopOptions['claim']> {
  const used = new Map<string, number>();
  let sweepAt = 1024;
  /** No proof expires before this time. */
  let firstExpiry = 0;
  return (hash, expiresAt) => {
    if (used.has(hash)) return false;
    if (used.size >= Math.min(sweepAt, most)) {
      const now = Date.now();
      if (firstExpiry <= now) {
        firstExpiry = Infinity;
        for (const [each, until] of used) {
          if (until <= now) used.delete(each);
          else firstExpiry = Math.min(firstExpiry, until);
        }
      }
      sweepAt = Math.max(1024, used.size * 2);
      if (used.size >= most)
        throw new RememberedError(`${most} proofs are remembered, and none has expired`);
    }
    used.set(hash, expiresAt);
    firstExpiry = Math.min(firstExpiry, expiresAt);
    return true;
  };
}

/** Returns the DPoP part of the refusal, or null if DPoP is off. */
export function getRefusal(proofs: Proofs | null, presented: boolean): BindingRefusal | null {
  return bindingRefusal(proofs?.offer ?? null, presented ? { answer: null } : undefined);
}
