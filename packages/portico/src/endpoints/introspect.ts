import type { BearerTokens } from '../tokens/bearer.ts';
import type { AuthenticateClient } from '../clients/authentication.ts';
import { OAuthError } from '../errors.ts';
import { formParameters } from '../parameters.ts';
import { jsonReply } from '../replies/responses.ts';
import { tokenTypeOf, type KeyBinding } from '../tokens/key-binding.ts';
import { formatScope } from '../tokens/scopes.ts';
import type { Client } from '../store/client.ts';
import type { Handler } from './endpoint.ts';

export interface IntrospectOptions {
  readonly authenticateClient: AuthenticateClient;
  readonly bearerTokens: BearerTokens;
  /** Null if tokens are not bound. */
  readonly binding: KeyBinding | null;
  readonly issuer: string;
}

/**
 * POST /oauth/introspect (RFC 7662), for a resource server elsewhere: what an access token allows
 * now. The scopes are those that work at this moment; of the person it shows only the public
 * subject.
 */
export function createIntrospectEndpoint(options: IntrospectOptions): Handler {
  const { authenticateClient, bearerTokens, binding, issuer } = options;
  return async (request) => {
    const form = await formParameters(request);
    const client = await authenticateClient(request, form);
    requireIntrospection(client);
    const token = await bearerTokens.lookUp(form.require('token'), 'to introspection');
    if ('code' in token) return jsonReply({ active: false });
    return jsonReply({
      active: true,
      scope: formatScope(await bearerTokens.honouredScopes(token)),
      client_id: token.clientId,
      token_type: tokenTypeOf(binding, token.thumbprint),
      exp: Math.floor(token.expiresAt / 1000),
      iat: Math.floor(token.issuedAt / 1000),
      iss: issuer,
      ...(token.subject === null ? {} : { sub: token.subject }),
      ...(token.audience === null ? {} : { aud: token.audience }),
      // The resource server must require a proof of this key.
      ...(token.thumbprint === null || binding === null
        ? {}
        : { cnf: binding.confirmation(token.thumbprint) }),
    });
  };
}

/**
 * Registration refuses this right to a public client, and so does this: a client id is not a
 * secret.
 */
function requireIntrospection(client: Client): void {
  if (!client.public && client.grants.includes('introspection')) return;
  const reason = client.public
    ? 'a public client, which cannot prove who it is'
    : `the client is registered for ${client.grants.join(', ')}`;
  throw new OAuthError('unauthorized_client', 'The client is not registered for introspection.', reason);
}
