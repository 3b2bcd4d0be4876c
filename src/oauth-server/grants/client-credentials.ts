import { OAuthError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import { beyondScopes, formatScope, IDENTITY_SCOPES, requestedScopes } from '../scopes.ts';
import type { ServerContext } from '../server-context.ts';
import type { Client } from '../store/store.ts';
import { randomToken, tokenHash } from '../crypto.ts';
import { targetOf } from '../tokens/resource-indicators.ts';
import { requireGrant, type TokenResponse } from './token-response.ts';

/** A token for the application itself (RFC 6749 section 4.4): no person, no refresh token. */
export async function clientCredentialsGrant(
  context: ServerContext,
  client: Client,
  form: Parameters,
): Promise<TokenResponse> {
  requireGrant(client, 'client_credentials');
  const scopes = applicationScopes(context, client, form.get('scope'));
  const audience = targetOf(context, form.get('resource'));
  const now = context.clock();
  const accessToken = randomToken();
  const expiresAt = now + context.config.access_token_ttl * 1000;
  await context.store.issueClientToken(
    client.id,
    audience,
    { hash: tokenHash(accessToken), scopes, expiresAt },
    now,
  );
  await context.audit({
    type: 'tokens_issued',
    grantType: 'client_credentials',
    clientId: client.id,
    person: null,
    authorization: null,
    scopes,
  });
  return {
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: context.config.access_token_ttl,
    scope: formatScope(scopes),
  };
}

/** The scopes asked for, or all that the client has; those about a person make no sense here. */
function applicationScopes(
  context: ServerContext,
  client: Client,
  scope: string | undefined,
): readonly string[] {
  const available = client.scopes.filter(
    (name) => context.scopes.has(name) && !Object.hasOwn(IDENTITY_SCOPES, name),
  );
  const scopes = requestedScopes(scope) ?? available;
  if (scopes.length === 0 || !scopes.every((name) => available.includes(name))) {
    throw new OAuthError(
      'invalid_scope',
      'The scope is unknown, or not one this client may use for itself.',
      beyondScopes(scopes, available, 'unknown, not registered for this client, or about a person'),
    );
  }
  return scopes;
}
