import type { DpopProof } from '../../jws/dpop-proof.ts';
import type { AuthenticateClient } from '../clients/authentication.ts';
import type { RecordUse } from '../clients/last-use.ts';
import { proofOf, requireAlgorithm, type Dpop } from '../dpop/dpop.ts';
import { OAuthError } from '../errors.ts';
import type { ProvedKey } from '../grants/grant.ts';
import type { Grants } from '../grants/grant-types.ts';
import type { LostAnswers } from '../grants/lost-answers.ts';
import { formParameters } from '../parameters.ts';
import { PROFILED_ALGORITHMS } from '../profiles/fapi2.ts';
import type { Profiles } from '../profiles/profiles.ts';
import type { Pruning } from '../store/pruning.ts';
import { quoted } from '../quoting.ts';
import { jsonReply, withDpopNonce } from '../replies/responses.ts';
import type { Handler } from './endpoint.ts';

export interface TokenEndpointOptions {
  readonly authenticateClient: AuthenticateClient;
  readonly grants: Grants;
  /** Null where `oauth_server:dpop` is off: then a proof is not looked at. */
  readonly dpop: Dpop | null;
  /** The URL of this endpoint, which proofs are for. */
  readonly url: string;
  readonly profiles: Pick<Profiles, 'governs'>;
  readonly lostAnswers: Pick<LostAnswers, 'find'>;
  readonly recordUse: RecordUse;
  readonly pruning: Pick<Pruning, 'tick'>;
}

/** POST /oauth/token (RFC 6749 section 3.2). */
export function createTokenEndpoint(options: TokenEndpointOptions): Handler {
  const { authenticateClient, grants, dpop, url, profiles, lostAnswers, recordUse, pruning } = options;
  return async (request) => {
    const form = await formParameters(request);
    // Before the client is authenticated: whoever has to ask again, with a nonce, sends the same assertion, which is good once.
    const proof = dpop === null ? null : await dpop.check(proofOf(request, url), null);
    const client = await authenticateClient(request, form);
    if (proof !== null && profiles.governs(client)) requireAlgorithm(proof, PROFILED_ALGORITHMS);
    const grantType = form.require('grant_type');
    const grant = grants.get(grantType);
    if (grant === undefined) {
      throw new OAuthError(
        'unsupported_grant_type',
        'The grant_type is not one that this server offers.',
        `the grant_type is ${quoted(grantType)}`,
      );
    }
    const proved = dpop === null || proof === null ? null : provedKey(dpop, proof);
    // Nothing that may fail is left to do once tokens are issued.
    const nonce = dpop === null || proof === null ? null : await dpop.nonce();
    const kept = lostAnswers.find(client, form, proved?.thumbprint ?? null);
    if (kept !== null && proved !== null) await proved.claim();
    const reply = jsonReply(
      await (kept === null ? grant(client, form, proved) : kept(() => grant(client, form, proved))),
    );
    const response = withDpopNonce(reply, nonce);
    const noted = recordUse(client);
    if (noted !== null) await noted;
    await pruning.tick();
    return response;
  };
}

function provedKey(dpop: Dpop, proof: DpopProof): ProvedKey {
  let claimed: Promise<void> | null = null;
  return { thumbprint: proof.thumbprint, claim: () => (claimed ??= dpop.claim(proof)) };
}
