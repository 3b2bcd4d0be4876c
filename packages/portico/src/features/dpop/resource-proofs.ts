import { Note } from '../../http/note.ts';
import { readRequestLine, findSource } from '../../http/request-line.ts';
import { isLiteralTarget } from '../../http/request-target.ts';
import type { Server } from '../../server.ts';
import type { BoundToken, ProofRefusal } from '../../tokens/key-binding.ts';
import type { Dpop } from './dpop.ts';
import { DpopError, RESOURCE_MESSAGES, type DpopErrorCode } from './errors.ts';

/**
 * The proof in a request that a server has already marked as used. A server may check the same
 * request several times, but must mark its proof as used only once.
 */
const claimed = new Note<{ readonly by: object; readonly text: string }>('claimed proof');

/**
 * Checks the proof in a request with a bound access token. The token's key must have signed it for
 * this exact request (RFC 9449 section 7).
 */
export class ResourceProofs {
  readonly #server: Server;
  readonly #dpop: Dpop;
  /** The start of the path that a proxy removes. */
  readonly #removed: string;

  constructor(server: Server, dpop: Dpop) {
    this.#server = server;
    this.#dpop = dpop;
    const { basePath, mountPath } = server;
    this.#removed = basePath.slice(0, basePath.length - mountPath.length);
  }

  /**
   * Returns null if the request proves that the client has the key and the proof is new. Otherwise,
   * returns the reason for the refusal. `asked` returns the request to check.
   */
  async refusal(
    asked: (() => Request) | undefined,
    token: string,
    found: BoundToken,
  ): Promise<ProofRefusal | null> {
    const request = asked?.();
    if (request === undefined)
      return refusedProof(
        'lookUpToken() was called without a request; pass the request that contains the proof',
      );
    try {
      return await this.#judge(request, token, found);
    } catch (error) {
      if (!(error instanceof DpopError)) throw error;
      return refusedAs(error.code, error.detail, error.nonce);
    }
  }

  /** Marks the proof as used after all other checks, so a rejected request does not use it up. */
  async #judge(
    request: Request,
    token: string,
    { thumbprint, clientProfile }: BoundToken,
  ): Promise<ProofRefusal | null> {
    const dpop = this.#dpop;
    const { method, target } = readRequestLine(request);
    const url = this.#publicUrl(target);
    if (url === null)
      return refusedProof('the path of the request is not correctly percent-encoded');
    const text = request.headers.get('dpop');
    const proof = await dpop.check({ proof: text, method, url }, token);
    if (proof === null || text === null) return refusedProof('there is no DPoP header');
    if (proof.thumbprint !== thumbprint) return OTHER_KEY;
    const allowed = this.#server.profiles.named(clientProfile)?.algorithms;
    if (allowed !== undefined && !allowed.includes(proof.algorithm))
      return refusedProof(
        `DPoP proof refused: its alg is ${proof.algorithm}, which the profile does not allow`,
      );
    const source = findSource(request);
    const before = claimed.of(source);
    if (before?.by === this && before.text === text) return null;
    await dpop.claim(proof);
    claimed.set(source, { by: this, text });
    return null;
  }

  /**
   * Returns the public URL of the request, without the `Host` header. Returns null if a URL parser
   * would change the request target. The application's router could then see another path than the
   * one in the proof.
   */
  #publicUrl(target: string): string | null {
    const query = target.indexOf('?');
    const path = query < 0 ? target : target.slice(0, query);
    const { origin } = this.#server;
    return path.startsWith('/') && isLiteralTarget(path)
      ? `${origin}${this.#removed}${path}`
      : null;
  }
}

const OTHER_KEY: ProofRefusal = {
  code: 'invalid_token',
  detail: 'the proof was signed with a different key than the one that the token is bound to',
  answer: null,
};

function refusedProof(detail: string): ProofRefusal {
  return refusedAs('invalid_dpop_proof', detail, null);
}

function refusedAs(code: DpopErrorCode, detail: string, answer: string | null): ProofRefusal {
  return { code, message: RESOURCE_MESSAGES[code], detail, answer };
}
