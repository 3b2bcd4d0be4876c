import type { PushedRequests } from '../authorization/pushed.ts';
import type { RequestChecks } from '../authorization/request.ts';
import { DPOP_JKT, sentParameters } from '../authorization/request-parameters.ts';
import type { Hint } from '../authorization/sign-in-hints.ts';
import type { AuthenticateClient } from '../clients/authentication.ts';
import { proofOf, requireAlgorithm, type Dpop } from '../dpop/dpop.ts';
import { OAuthError } from '../errors.ts';
import { formParameters, type Parameters } from '../parameters.ts';
import { PROFILED_ALGORITHMS } from '../profiles/fapi2.ts';
import type { Profiles } from '../profiles/profiles.ts';
import { jsonReply, withDpopNonce } from '../replies/responses.ts';
import type { Handler } from './endpoint.ts';

export interface ParEndpointOptions {
  readonly authenticateClient: AuthenticateClient;
  readonly checks: Pick<RequestChecks, 'checkPushed'>;
  readonly pushed: Pick<PushedRequests, 'keep'>;
  /** Null where `oauth_server:dpop` is off: then a proof is not looked at. */
  readonly dpop: Dpop | null;
  readonly profiles: Pick<Profiles, 'governs'>;
  /** Those that somebody reads: no others are kept. */
  readonly hints: readonly Hint[];
  /** The URL of this endpoint, which proofs are for. */
  readonly url: string;
}

/** POST /oauth/par (RFC 9126): keeps an authorization request of a client that proves itself, once it has passed every check. */
export function createParEndpoint(options: ParEndpointOptions): Handler {
  const { authenticateClient, checks, pushed, dpop, profiles, hints, url } = options;
  return async (request) => {
    const form = await formParameters(request);
    // Before the client is authenticated, as at the token endpoint.
    const proof = dpop === null ? null : await dpop.check(proofOf(request, url), null);
    const client = await authenticateClient(request, form);
    if (proof !== null && profiles.governs(client)) requireAlgorithm(proof, PROFILED_ALGORITHMS);
    // Required beside whatever authenticates (section 2.1).
    form.require('client_id');
    if (form.has('request_uri')) {
      throw new OAuthError('invalid_request', 'A request_uri cannot be pushed.');
    }
    await checks.checkPushed(form, client);
    const sent = sentParameters(form, { takesDpop: dpop !== null, hints });
    const bound = proof === null ? sent : [...sent, ...keyOf(form, proof.thumbprint)];
    const { requestUri, expiresIn } = await pushed.keep(request, client, bound);
    const reply = jsonReply({ request_uri: requestUri, expires_in: expiresIn }, 201);
    if (dpop === null || proof === null) return reply;
    // Last: whoever may be anybody has as many proofs written down as requests.
    await dpop.claim(proof);
    return withDpopNonce(reply, await dpop.nonce());
  };
}

/** A proof of the key that is to exchange the code says which one that is (RFC 9449 section 10.1); `dpop_jkt` beside it says the same. */
function keyOf(form: Parameters, thumbprint: string): readonly (readonly [string, string])[] {
  const named = form.get(DPOP_JKT);
  if (named === undefined) return [[DPOP_JKT, thumbprint]];
  if (named === thumbprint) return [];
  throw new OAuthError('invalid_request', 'The dpop_jkt is not the key of the DPoP proof.');
}
