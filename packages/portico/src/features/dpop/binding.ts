import { dpopOffer } from '../../http/dpop.ts';
import { VERIFIED_ALGORITHMS } from '../../keys/jws/public-keys.ts';
import type { DpopProof } from '../../keys/jws/dpop-proof.ts';
import type { Server } from '../../server.ts';
import type { BoundToken, KeyBinding, ProofRefusal, ProvedKey } from '../../tokens/key-binding.ts';
import { boundScopes, type DpopMode } from './demands.ts';
import { readProof, requireAlgorithm, type Dpop } from './dpop.ts';
import { ResourceProofs } from './resource-proofs.ts';

/** Returns the algorithms for proofs. If `allowed` is not null, returns only those in it. */
export function proofAlgorithms(allowed: readonly string[] | null): readonly string[] {
  return VERIFIED_ALGORITHMS.filter((each) => allowed?.includes(each) ?? true);
}

/** Binds tokens to keys with DPoP. Used unless `oauth_server:dpop` is `off`. */
export class DpopBinding implements KeyBinding {
  readonly offer: KeyBinding['offer'];
  /** The request parameter with the key's thumbprint (RFC 9449 section 10). */
  readonly parameter = 'dpop_jkt';
  readonly scopes: ReadonlySet<string>;
  readonly #server: Server;
  readonly #dpop: Dpop;
  readonly #resourceProofs: ResourceProofs;

  constructor(server: Server, dpop: Dpop, mode: DpopMode) {
    this.#server = server;
    this.#dpop = dpop;
    this.#resourceProofs = new ResourceProofs(server, dpop);
    this.offer = dpopOffer({
      required: mode === 'require',
      algorithms: proofAlgorithms(server.profiles.servers?.algorithms ?? null),
    });
    this.scopes = boundScopes(server.config.scopes);
  }

  async prove(request: Request, url: string): Promise<ProvedKey | null> {
    const proof = await this.#dpop.check(readProof(request, url), null);
    return proof === null ? null : this.#provedKey(proof);
  }

  refusal(
    asked: (() => Request) | undefined,
    token: string,
    found: BoundToken,
  ): Promise<ProofRefusal | null> {
    return this.#resourceProofs.refusal(asked, token, found);
  }

  async answerFields(): Promise<Readonly<Record<string, string>>> {
    const nonce = await this.#dpop.nonce();
    return nonce === null ? {} : { 'DPoP-Nonce': nonce };
  }

  /** The claim `cnf` (RFC 9449 section 6.2). */
  confirmation(thumbprint: string) {
    return { jkt: thumbprint };
  }

  #provedKey(proof: DpopProof): ProvedKey {
    const { profiles } = this.#server;
    let claimed: Promise<void> | null = null;
    return {
      thumbprint: proof.thumbprint,
      requireFor(client) {
        const allowed = profiles.of(client)?.algorithms;
        if (allowed !== undefined) requireAlgorithm(proof, allowed);
      },
      claim: () => (claimed ??= this.#dpop.claim(proof)),
      answerFields: () => this.answerFields(),
    };
  }
}
