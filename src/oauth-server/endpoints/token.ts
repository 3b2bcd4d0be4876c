import { OAuthError } from '../errors.ts';
import { authorizationCodeGrant } from '../grants/authorization-code.ts';
import { clientCredentialsGrant } from '../grants/client-credentials.ts';
import { refreshTokenGrant } from '../grants/refresh-token.ts';
import type { TokenResponse } from '../grants/token-response.ts';
import { formParameters, type Parameters } from '../parameters.ts';
import { quoted } from '../refusals.ts';
import { jsonReply, type Reply } from '../responses.ts';
import type { ServerContext } from '../server-context.ts';
import type { Client } from '../store/store.ts';

type GrantHandler = (context: ServerContext, client: Client, form: Parameters) => Promise<TokenResponse>;

const GRANT_TYPES: ReadonlyMap<string, GrantHandler> = new Map([
  ['authorization_code', authorizationCodeGrant],
  ['refresh_token', refreshTokenGrant],
  ['client_credentials', clientCredentialsGrant],
]);

/** The values of `grant_type` that the token endpoint knows. */
export const GRANT_TYPES_SUPPORTED: readonly string[] = [...GRANT_TYPES.keys()];

/** POST /oauth/token (RFC 6749 section 3.2). */
export async function tokenEndpoint(context: ServerContext, request: Request): Promise<Reply> {
  const form = await formParameters(request);
  const client = await context.authenticateClient(request, form);
  const grantType = form.require('grant_type');
  const grant = GRANT_TYPES.get(grantType);
  if (grant === undefined) {
    throw new OAuthError(
      'unsupported_grant_type',
      'The grant_type is not one that this server offers.',
      `the grant_type is ${quoted(grantType)}`,
    );
  }
  const response = jsonReply(await grant(context, client, form));
  await context.pruning.tick();
  return response;
}
