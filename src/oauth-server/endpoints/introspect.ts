import { scopesThatReach, usableToken } from '../bearer.ts';
import { OAuthError } from '../errors.ts';
import { formParameters } from '../parameters.ts';
import { jsonReply, type Reply } from '../responses.ts';
import { formatScope } from '../scopes.ts';
import type { ServerContext } from '../server-context.ts';

/**
 * POST /oauth/introspect (RFC 7662), for a resource server elsewhere: what an access token is good for now. The scopes
 * are those that would be honoured at this moment; of the person there is nothing but the public subject.
 */
export async function introspectEndpoint(context: ServerContext, request: Request): Promise<Reply> {
  const form = await formParameters(request);
  const client = await context.authenticateClient(request, form);
  // Registration refuses the right to a public client, and so does this: a client id is not a secret.
  if (client.public || !client.grants.includes('introspection')) {
    const reason = client.public
      ? 'a public client, which cannot prove who it is'
      : `the client is registered for ${client.grants.join(', ')}`;
    throw new OAuthError('unauthorized_client', 'The client is not registered for introspection.', reason);
  }
  const token = await usableToken(context, form.require('token'));
  if (typeof token === 'string') return jsonReply({ active: false });
  return jsonReply({
    active: true,
    scope: formatScope(await scopesThatReach(context, token)),
    client_id: token.clientId,
    token_type: 'Bearer',
    exp: Math.floor(token.expiresAt / 1000),
    iat: Math.floor(token.issuedAt / 1000),
    iss: context.issuer,
    ...(token.subject === null ? {} : { sub: token.subject }),
    ...(token.audience === null ? {} : { aud: token.audience }),
  });
}
