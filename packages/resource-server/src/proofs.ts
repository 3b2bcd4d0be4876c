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
import { readWebUrl } from './urls.ts';

/**
 * Thrown if the process cannot remember another proof of a key. If it accepted a proof without
 * remembering it, it could not detect a second use of this proof.
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

/** Like `claim` of `DpopOptions`. It also gets the thumbprint of the proof's key. */
type Claim = (hash: string, expiresAt: number, thumbprint: string) => boolean | Promise<boolean>;

const MOST_REMEMBERED = 100_000;
/** How long to wait before removing expired proofs again, in milliseconds. */
const SWEEP_INTERVAL = 1000;

/** Checks proofs for an API that runs in a separate process from the authorization server. */
export class Proofs {
  readonly offer: BindingOffer;
  /** The API's origin, plus the path prefix that a proxy removes. */
  readonly #base: string;
  readonly #claim: Claim;

  /** Throws a TypeError if the public URL is invalid. */
  constructor({ publicUrl, required = false, remembered = MOST_REMEMBERED, claim }: DpopOptions) {
    const { origin, pathname, search, hash } = readWebUrl('dpop.publicUrl', publicUrl);
    if (search !== '' || hash !== '')
      throw new TypeError('dpop.publicUrl: must have no query and no fragment');
    this.offer = dpopOffer({ required, algorithms: VERIFIED_ALGORITHMS });
    this.#base = `${origin}${pathname.endsWith('/') ? pathname.slice(0, -1) : pathname}`;
    this.#claim =
      claim === undefined ? remembering(remembered) : (hash, expiresAt) => claim(hash, expiresAt);
  }

  /**
   * Returns the reason why the request is rejected, or null if it has a valid and unused proof for
   * this key.
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
      const isNew: unknown = await this.#claim(used, expiresAt, thumbprint);
      // Also accept 1, which some database drivers return for true. Treat all other values, such as
      // rows, as false.
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
 * Remembers proofs in memory. A key can have at most as many proofs as there are free places. A
 * single key therefore gets at most half of the places, and other keys can still use proofs.
 *
 * Removes expired proofs whenever the number of proofs has doubled. If there is too little space,
 * also removes them at most once per second. The average time per proof therefore does not depend
 * on the number of proofs.
 */
function remembering(most: number): (...given: Parameters<Claim>) => boolean {
  const keys = new Map<string, Map<string, number>>();
  let size = 0;
  let sweepAt = 1024;
  let sweptAt = 0;
  function sweep(now: number): void {
    for (const [thumbprint, proofs] of keys) {
      for (const [hash, until] of proofs) if (until <= now && proofs.delete(hash)) size--;
      if (proofs.size === 0) keys.delete(thumbprint);
    }
    sweepAt = Math.max(1024, size * 2);
    sweptAt = now;
  }
  return (hash, expiresAt, thumbprint) => {
    const hasRoom = () => (keys.get(thumbprint)?.size ?? 0) < most - size;
    if (keys.get(thumbprint)?.has(hash) === true) return false;
    const now = Date.now();
    // Use the absolute difference, because the clock may have been set back.
    const isDue = Math.abs(now - sweptAt) >= SWEEP_INTERVAL;
    if (size >= sweepAt || (!hasRoom() && isDue)) sweep(now);
    if (!hasRoom())
      throw new RememberedError(
        `dpop.remembered allows ${most} remembered proofs, and ${size} are already remembered`,
      );
    const proofs = keys.get(thumbprint) ?? new Map<string, number>();
    keys.set(thumbprint, proofs.set(hash, expiresAt));
    size++;
    return true;
  };
}

/**
 * Returns what the response tells the client about DPoP, or null if DPoP is off. `presented` says
 * whether the request used the scheme DPoP.
 */
export function getRefusal(proofs: Proofs | null, presented: boolean): BindingRefusal | null {
  return bindingRefusal(proofs?.offer ?? null, presented ? { answer: null } : undefined);
}
