import { OAuthError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import { beyondScopes, requestedScopes } from '../scopes.ts';
import type { ServerContext } from '../server-context.ts';
import type { Client } from '../store/store.ts';
import { familyOfRefreshToken, offeredRefreshToken } from '../crypto.ts';
import {
  anothersClient,
  expired,
  INACTIVE_ACCOUNT,
  invalidGrant,
  prepareTokens,
  requireGrant,
  requireTarget,
  revokeReplayed,
  scopesInForce,
  settleOutcome,
  type TokenResponse,
} from './token-response.ts';

/** Replaces a refresh token by its successor (RFC 6749 section 6, RFC 9700 section 4.14.2): each is good for one use. */
export async function refreshTokenGrant(
  context: ServerContext,
  client: Client,
  form: Parameters,
): Promise<TokenResponse> {
  requireGrant(client, 'refresh_token');
  const offered = form.require('refresh_token');
  const requestedScope = form.get('scope');
  const resource = form.get('resource');

  const now = context.clock();
  const token = await context.store.findRefreshToken(offeredRefreshToken(offered));
  if (token === null) throw invalidGrant('the refresh token is unknown');
  if (token.family.clientId !== client.id) throw invalidGrant(anothersClient('refresh token', token));
  const { family } = token;
  if (token.used) {
    // A replay, whenever it comes: the application or a thief holds a successor, and nobody can tell which.
    await revokeReplayed(context, 'refresh_token', token);
    throw invalidGrant('the refresh token was used before; its authorization is revoked');
  }
  if (token.expiresAt <= now) throw invalidGrant(expired('refresh token', token));
  requireTarget(context, token, resource);
  const scopes = narrowed(scopesInForce(context, token), requestedScope);
  const user = await context.accounts.active(family.person);
  if (user === null) throw invalidGrant(INACTIVE_ACCOUNT);
  const shared = token.marked ? (familyOfRefreshToken(offered)?.shared ?? null) : null;
  const prepared = await prepareTokens(context, { client, family, user, scopes, nonce: null, shared, now });
  const outcome = await context.store.rotateRefreshToken(token, prepared.tokens, now);
  return settleOutcome(context, 'refresh_token', token, prepared, outcome);
}

/** The scopes of the new access token: those in force, or the part of them that was asked for. */
function narrowed(inForce: readonly string[], scope: string | undefined): readonly string[] {
  const scopes = requestedScopes(scope) ?? inForce;
  if (scopes.length === 0 || !scopes.every((name) => inForce.includes(name))) {
    throw new OAuthError(
      'invalid_scope',
      'The scope reaches beyond what was granted.',
      beyondScopes(scopes, inForce, 'not granted, or no longer'),
    );
  }
  return scopes;
}
