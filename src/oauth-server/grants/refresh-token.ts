import { OAuthError } from '../errors.ts';
import { requireScopes } from '../tokens/scopes.ts';
import type { Family, Store } from '../store/store.ts';
import { otherResource, quotedAudience } from '../tokens/resource-indicators.ts';
import { parseRefreshToken } from '../tokens/token-formats.ts';
import { requireGrant, type GrantHandler } from './grant.ts';
import { createOutcomes, invalidGrant } from './outcome.ts';
import {
  createAgain,
  expired,
  INACTIVE_ACCOUNT,
  ofAnotherClient,
  requireSameAudience,
  requireScopesInForce,
  type StoredGrantOptions,
} from './stored-grant.ts';

export interface RefreshTokenGrantOptions extends StoredGrantOptions {
  readonly store: Pick<Store, 'findRefreshToken' | 'rotateRefreshToken' | 'revokeReplayed'>;
}

/** Replaces a refresh token by its successor (RFC 6749 section 6, RFC 9700 section 4.14.2): each is good for one use. */
export function createRefreshTokenGrant(options: RefreshTokenGrantOptions): GrantHandler {
  const { store, accounts, issuing, scopes: catalog, audience, clock } = options;
  const again = createAgain('refresh_token', options, (inForce, form) =>
    narrowed(inForce, form.get('scope')),
  );
  const outcomes = createOutcomes('refresh_token', options, again);

  return async (client, form) => {
    requireGrant(client, 'refresh_token');
    const { offered, mark } = parseRefreshToken(form.require('refresh_token'));
    const requestedScope = form.get('scope');
    const resource = form.get('resource');

    const now = clock();
    const token = await store.findRefreshToken(offered);
    if (token === null) throw invalidGrant('the refresh token is unknown');
    const { family } = token;
    if (family.clientId !== client.id) throw invalidGrant(ofAnotherClient('refresh token', token));
    if (token.used) {
      // A replay, whenever it comes: the application or a thief holds a successor, and nobody can tell which.
      await outcomes.revokeReplayed(token);
      throw invalidGrant('the refresh token was used before; its authorization is revoked');
    }
    if (token.expiresAt <= now) throw invalidGrant(expired('refresh token', token));
    requireSameResource(family, resource);
    requireSameAudience(family, audience);
    const scopes = narrowed(requireScopesInForce(family, client, catalog), requestedScope);
    const user = await accounts.active(family.person);
    if (user === null) throw invalidGrant(INACTIVE_ACCOUNT);
    const kept = token.marked ? mark : null;
    const request = { client, family, user, scopes, nonce: null, mark: kept, now };
    const prepared = await issuing.forPerson(request);
    const outcome = await store.rotateRefreshToken(token, prepared.tokens, now);
    return outcomes.respond(form, request, token, prepared, outcome);
  };
}

/** The target stays what it was when the person consented (RFC 8707 section 2.2). */
function requireSameResource({ audience }: Family, resource: string | undefined): void {
  const other = otherResource(resource, audience);
  if (other === null) return;
  throw new OAuthError(
    'invalid_target',
    'The resource is not the one that the grant was made for.',
    `the resource asked for is ${other}, the grant was made for ${quotedAudience(audience)}`,
  );
}

/** The scopes of the new access token: those in force, or the part of them that was asked for. */
function narrowed(inForce: readonly string[], scope: string | undefined): readonly string[] {
  return requireScopes(scope, {
    available: inForce,
    refusal: 'The scope reaches beyond what was granted.',
    detail: 'not granted, or no longer',
  });
}
