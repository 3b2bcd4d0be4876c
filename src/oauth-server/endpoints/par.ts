import type { PushedRequests } from '../authorization/pushed.ts';
import type { RequestChecks } from '../authorization/request.ts';
import { sentParameters } from '../authorization/request-parameters.ts';
import type { Hint } from '../authorization/sign-in-hints.ts';
import type { AuthenticateClient } from '../clients/authentication.ts';
import { OAuthError } from '../errors.ts';
import { formParameters, type Parameters } from '../parameters.ts';
import { jsonReply, withFields } from '../replies/responses.ts';
import type { KeyBinding } from '../tokens/key-binding.ts';
import type { Handler } from './endpoint.ts';

export interface ParEndpointOptions {
  readonly authenticateClient: AuthenticateClient;
  readonly checks: Pick<RequestChecks, 'checkPushed'>;
  readonly pushed: Pick<PushedRequests, 'keep'>;
  /** Null where tokens are bound to nothing: then a proof is not looked at. */
  readonly binding: KeyBinding | null;
  /** Those that somebody reads: no others are kept. */
  readonly hints: readonly Hint[];
  /** The URL of this endpoint, which proofs are for. */
  readonly url: string;
}

/** POST /oauth/par (RFC 9126): keeps an authorization request of a client that proves itself, once it has passed every check. */
export function createParEndpoint(options: ParEndpointOptions): Handler {
  const { authenticateClient, checks, pushed, binding, hints, url } = options;
  return async (request) => {
    const form = await formParameters(request);
    // Before the client is authenticated, as at the token endpoint.
    const proved = binding === null ? null : await binding.prove(request, url);
    const client = await authenticateClient(request, form);
    proved?.requireFor(client);
    // Required beside whatever authenticates (section 2.1).
    form.require('client_id');
    if (form.has('request_uri')) {
      throw new OAuthError('invalid_request', 'A request_uri cannot be pushed.');
    }
    await checks.checkPushed(form, client);
    const sent = sentParameters(form, { keyParameter: binding?.parameter ?? null, hints });
    const bound =
      binding === null || proved === null ? sent : [...sent, ...keyOf(form, binding, proved.thumbprint)];
    const { requestUri, expiresIn } = await pushed.keep(request, client, bound);
    const reply = jsonReply({ request_uri: requestUri, expires_in: expiresIn }, 201);
    if (proved === null) return reply;
    // Last: whoever may be anybody has as many proofs written down as requests.
    await proved.claim();
    return withFields(reply, await proved.answerFields());
  };
}

/** A proof of the key that is to exchange the code says which one that is (RFC 9449 section 10.1); its parameter beside it says the same. */
function keyOf(
  form: Parameters,
  { parameter, offer }: KeyBinding,
  thumbprint: string,
): readonly (readonly [string, string])[] {
  const named = form.get(parameter);
  if (named === undefined) return [[parameter, thumbprint]];
  if (named === thumbprint) return [];
  throw new OAuthError('invalid_request', `The ${parameter} is not the key of the ${offer.scheme} proof.`);
}
