import type { AuthenticateClient } from '../clients/authentication.ts';
import { OAuthError } from '../errors.ts';
import type { Grants } from '../grants/grant-types.ts';
import type { Unanswered } from '../grants/unanswered.ts';
import { formParameters } from '../parameters.ts';
import type { Pruning } from '../store/pruning.ts';
import { quoted } from '../quoting.ts';
import { jsonReply } from '../replies/responses.ts';
import type { Handler } from './endpoint.ts';

export interface TokenEndpointOptions {
  readonly authenticateClient: AuthenticateClient;
  readonly grants: Grants;
  readonly unanswered: Pick<Unanswered, 'find'>;
  readonly pruning: Pick<Pruning, 'tick'>;
}

/** POST /oauth/token (RFC 6749 section 3.2). */
export function createTokenEndpoint(options: TokenEndpointOptions): Handler {
  const { authenticateClient, grants, unanswered, pruning } = options;
  return async (request) => {
    const form = await formParameters(request);
    const client = await authenticateClient(request, form);
    const grantType = form.require('grant_type');
    const grant = grants.get(grantType);
    if (grant === undefined) {
      throw new OAuthError(
        'unsupported_grant_type',
        'The grant_type is not one that this server offers.',
        `the grant_type is ${quoted(grantType)}`,
      );
    }
    const kept = unanswered.find(client, form);
    const response = jsonReply(await (kept === null ? grant(client, form) : kept(() => grant(client, form))));
    await pruning.tick();
    return response;
  };
}
