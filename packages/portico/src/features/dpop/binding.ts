import { dpopOffer } from '../../http/dpop.ts';
import { VERIFIED_ALGORITHMS } from '../../jws/public-keys.ts';
import type { DpopProof } from '../../jws/dpop-proof.ts';
import type { SecurityProfile } from '../../profiles.ts';
import type { Server } from '../../server.ts';
import type { KeyBinding, ProvedKey } from '../../tokens/key-binding.ts';
import type { DpopConfig } from './config.ts';
import { boundScopes } from './demands.ts';
import { createDpop, proofOf, requireAlgorithm, type Dpop } from './dpop.ts';
import { createDpopNonces } from './nonces.ts';
import { ResourceProofs } from './resource-proofs.ts';

/** What proofs may be signed with under the profile of the server. */
export function proofAlgorithms(profile: Pick<SecurityProfile, 'algorithms'> | null): readonly string[] {
  return VERIFIED_ALGORITHMS.filter((each) => profile?.algorithms.includes(each) ?? true);
}

/** Tokens that are bound with DPoP, if `oauth_server:dpop` is not off. */
export function createDpopBinding(server: Server, config: DpopConfig): KeyBinding {
  const { profiles, singleUses, sealer, clock } = server;
  const nonces = config.dpop_nonces === true ? createDpopNonces({ sealer, clock }) : null;
  return bindingBy(
    createDpop({ singleUses, nonces, algorithms: profiles.servers?.algorithms ?? null, clock }),
    server,
    config,
  );
}

export function bindingBy(dpop: Dpop, server: Server, config: DpopConfig): KeyBinding {
  const { profiles } = server;
  const resourceProofs = new ResourceProofs({ ...server, dpop });
  return {
    offer: dpopOffer({
      required: config.dpop === 'require',
      algorithms: proofAlgorithms(profiles.servers),
    }),
    // RFC 9449 section 10.
    parameter: 'dpop_jkt',
    scopes: boundScopes(server.config.scopes),
    async prove(request, url) {
      const proof = await dpop.check(proofOf(request, url), null);
      return proof === null ? null : provedKey(server, dpop, proof);
    },
    refusal: (asked, token, found) => resourceProofs.refusal(asked, token, found),
    // RFC 9449 section 6.2.
    confirmation: (thumbprint) => ({ jkt: thumbprint }),
  };
}

function provedKey({ profiles }: Server, dpop: Dpop, proof: DpopProof): ProvedKey {
  let claimed: Promise<void> | null = null;
  return {
    thumbprint: proof.thumbprint,
    requireFor(client) {
      const allowed = profiles.of(client)?.algorithms;
      if (allowed !== undefined) requireAlgorithm(proof, allowed);
    },
    claim: () => (claimed ??= dpop.claim(proof)),
    async answerFields() {
      const nonce = await dpop.nonce();
      return nonce === null ? {} : { 'DPoP-Nonce': nonce };
    },
  };
}
