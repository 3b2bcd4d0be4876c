import type { ClientAuthentication } from '../clients/authentication.ts';
import { OAuthError } from '../errors.ts';
import { formParameters } from '../parameters.ts';
import { jsonReply, type Reply } from './replies/responses.ts';
import type { Client } from '../store/client.ts';
import type { BearerTokens } from '../resource/bearer.ts';
import type { DescribesDetails } from '../tokens/details.ts';
import { getTokenType, type KeyBinding } from '../tokens/key-binding.ts';
import { formatScope } from '../tokens/scopes.ts';

interface IntrospectionAdditions {
  /** Null if the server binds no tokens. */
  readonly binding: KeyBinding | null;
  /** Returns the response fields for the details of an authorization. */
  readonly describe: DescribesDetails;
}

/**
 * Handles POST /oauth/introspect (RFC 7662) for resource servers outside this application. The
 * response tells whether an access token is valid and which scopes it has now. About the user, it
 * contains only the public subject and what features add.
 */
export class IntrospectEndpoint {
  readonly #issuer: string;
  readonly #authentication: ClientAuthentication;
  readonly #bearerTokens: BearerTokens;
  readonly #binding: KeyBinding | null;
  readonly #describe: DescribesDetails;

  constructor(
    issuer: string,
    authentication: ClientAuthentication,
    bearerTokens: BearerTokens,
    { binding, describe }: IntrospectionAdditions,
  ) {
    this.#issuer = issuer;
    this.#authentication = authentication;
    this.#bearerTokens = bearerTokens;
    this.#binding = binding;
    this.#describe = describe;
  }

  readonly answer = async (request: Request): Promise<Reply> => {
    const binding = this.#binding;
    const form = await formParameters(request);
    const client = await this.#authentication.authenticate(request, form);
    requireIntrospection(client);
    const token = await this.#bearerTokens.lookUp(form.require('token'), 'to introspection');
    if ('code' in token) return jsonReply({ active: false });
    return jsonReply({
      ...(token.details === undefined ? {} : this.#describe(token.details, 'introspection')),
      active: true,
      scope: formatScope(await this.#bearerTokens.honouredScopes(token)),
      client_id: token.clientId,
      token_type: getTokenType(binding, token.thumbprint),
      exp: Math.floor(token.expiresAt / 1000),
      iat: Math.floor(token.issuedAt / 1000),
      iss: this.#issuer,
      ...(token.subject === null ? {} : { sub: token.subject }),
      ...(token.audience === null ? {} : { aud: token.audience }),
      // Name the key that the token is bound to. The resource server must check that the caller
      // proves it.
      ...(token.thumbprint === null || binding === null
        ? {}
        : { cnf: binding.confirmation(token.thumbprint) }),
    });
  };
}

/**
 * Throws unless the client has the grant `introspection`. A public client cannot prove its
 * identity, so it is refused too.
 */
function requireIntrospection(client: Client): void {
  if (!client.public && client.grants.includes('introspection')) return;
  const reason = client.public
    ? 'the client is public, so it cannot prove its identity'
    : `the client is registered only for ${client.grants.join(', ')}`;
  throw new OAuthError(
    'unauthorized_client',
    'The client is not registered for introspection.',
    reason,
  );
}
