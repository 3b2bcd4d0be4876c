import type { DpopOffer } from '../../http/challenges.ts';
import { Note } from '../../http/note.ts';
import { requestLineOf, sourceOf } from '../../http/request-line.ts';
import { isLiteralTarget } from '../../http/request-target.ts';
import type { DpopProof } from '../../jws/dpop-proof.ts';
import { VERIFIED_ALGORITHMS } from '../../jws/public-keys.ts';
import { PROFILED_ALGORITHMS, type ProfiledSwitches } from '../profiles/fapi2.ts';
import { DpopError } from '../errors.ts';

/** What resources say of DPoP, after `oauth_server:dpop`; null where it is off. */
export function dpopOffer({
  dpop = 'off',
  profile,
}: Pick<ProfiledSwitches, 'dpop' | 'profile'>): DpopOffer | null {
  const algorithms =
    profile === undefined
      ? VERIFIED_ALGORITHMS
      : VERIFIED_ALGORITHMS.filter((each) => PROFILED_ALGORITHMS.includes(each));
  return dpop === 'off' ? null : { required: dpop === 'require', algorithms };
}

/** How a proof is judged: `dpop/` does. Both throw a DpopError. */
interface ProofChecks {
  check(
    request: { readonly proof: string | null; readonly method: string; readonly url: string },
    accessToken: string,
  ): Promise<DpopProof | null>;
  claim(proof: DpopProof): Promise<unknown>;
}

/** Checks what comes with a bound access token: the proof of its key, for this very request (RFC 9449 section 7). */
export interface ResourceProofs {
  readonly offer: DpopOffer;
  /**
   * Resolves to null when the request proves the key, and it is the first request with this proof; otherwise to the refusal. `asked`
   * gives the request.
   */
  refusal(asked: (() => Request) | undefined, token: string, found: BoundToken): Promise<ProofRefusal | null>;
}

/** What is known of a token that was presented. */
interface BoundToken {
  readonly thumbprint: string | null;
  /** The profile that its client is held to by itself, whatever the server's; null for none. */
  readonly clientProfile: string | null;
}

/** Why a bound token is refused, although it is a good one. */
export interface ProofRefusal {
  readonly code: 'invalid_token' | 'invalid_dpop_proof' | 'use_dpop_nonce';
  /** For the log alone. */
  readonly detail: string;
  /** What the next proof has to have in it; null where none is asked for. */
  readonly nonce: string | null;
}

export interface ResourceProofsOptions {
  readonly offer: DpopOffer;
  readonly origin: string;
  readonly basePath: string;
  /** What is left of `basePath` in a request that arrives. */
  readonly mountPath: string;
  readonly dpop: ProofChecks;
}

/** The proof that was claimed with a request, and by which server: it may be looked up there more than once. */
const claimed = new Note<{ readonly by: object; readonly text: string }>('claimed proof');

export function createResourceProofs(options: ResourceProofsOptions): ResourceProofs {
  const { offer, origin, basePath, mountPath, dpop } = options;
  /** What a proxy takes away before the path. */
  const removed = basePath.slice(0, basePath.length - mountPath.length);

  /**
   * Where the outside sent the request, whatever its `Host` says. Null for a target that parsers of URLs write anew, as no proof names it: a
   * router may see another path in it.
   */
  function publicUrl(target: string): string | null {
    const query = target.indexOf('?');
    const path = query < 0 ? target : target.slice(0, query);
    return path.startsWith('/') && isLiteralTarget(path) ? `${origin}${removed}${path}` : null;
  }

  /** The proof is claimed last: whoever has another key uses up nothing. */
  async function judge(
    request: Request,
    token: string,
    { thumbprint, clientProfile }: BoundToken,
  ): Promise<ProofRefusal | null> {
    const { method, target } = requestLineOf(request);
    const url = publicUrl(target);
    if (url === null)
      return refused('invalid_dpop_proof', 'the path of the request is not written as in URLs');
    const text = request.headers.get('dpop');
    const proof = await dpop.check({ proof: text, method, url }, token);
    if (proof === null || text === null) return refused('invalid_dpop_proof', 'there is no DPoP header');
    if (proof.thumbprint !== thumbprint)
      return refused('invalid_token', 'the token is bound to another key than that of the proof');
    if (clientProfile !== null && !PROFILED_ALGORITHMS.includes(proof.algorithm))
      return refused(
        'invalid_dpop_proof',
        `of the proof: its alg is ${proof.algorithm}, which the profile does not allow`,
      );
    const source = sourceOf(request);
    const before = claimed.of(source);
    if (before?.by === options && before.text === text) return null;
    await dpop.claim(proof);
    claimed.set(source, { by: options, text });
    return null;
  }

  return {
    offer,
    async refusal(asked, token, found) {
      const request = asked?.();
      if (request === undefined)
        return refused('invalid_dpop_proof', 'lookUpToken() was given no request, which the proof is for');
      try {
        return await judge(request, token, found);
      } catch (error) {
        if (!(error instanceof DpopError)) throw error;
        return refused(error.code, error.detail, error.nonce);
      }
    },
  };
}

function refused(code: ProofRefusal['code'], detail: string, nonce: string | null = null): ProofRefusal {
  return { code, detail, nonce };
}
