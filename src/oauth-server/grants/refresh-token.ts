import type { Accounts } from '../accounts.ts';
import { OAuthError } from '../errors.ts';
import { beyondScopes, requestedScopes, type ScopeCatalog } from '../tokens/scopes.ts';
import type { Family, Store } from '../store/store.ts';
import { parseRefreshToken } from '../tokens/refresh-token-format.ts';
import { otherResource, quotedAudience } from '../tokens/resource-indicators.ts';
import { requireGrant, type GrantHandler } from './grant.ts';
import type { Issuing } from './issuing.ts';
import { createOutcomes, invalidGrant, type OutcomesOptions } from './outcome.ts';
import {
  anothersClient,
  expired,
  INACTIVE_ACCOUNT,
  requireSameAudience,
  requireScopesInForce,
} from './stored-grant.ts';

export interface RefreshTokenGrantOptions extends OutcomesOptions {
  readonly store: Pick<Store, 'findRefreshToken' | 'rotateRefreshToken' | 'revokeReplayed'>;
  readonly accounts: Pick<Accounts, 'active'>;
  readonly issuing: Pick<Issuing, 'forPerson'>;
  readonly scopes: ScopeCatalog;
  /** `oauth_server:audience`; null when it is empty. */
  readonly audience: string | null;
}

/** Replaces a refresh token by its successor (RFC 6749 section 6, RFC 9700 section 4.14.2): each is good for one use. */
export function createRefreshTokenGrant(options: RefreshTokenGrantOptions): GrantHandler {
  const { store, accounts, issuing, scopes: catalog, audience, clock } = options;
  const outcomes = createOutcomes('refresh_token', options);

  return async (client, form) => {
    requireGrant(client, 'refresh_token');
    const { offered, mark } = parseRefreshToken(form.require('refresh_token'));
    const requestedScope = form.get('scope');
    const resource = form.get('resource');

    const now = clock();
    const token = await store.findRefreshToken(offered);
    if (token === null) throw invalidGrant('the refresh token is unknown');
    const { family } = token;
    if (family.clientId !== client.id) throw invalidGrant(anothersClient('refresh token', token));
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
    const prepared = await issuing.forPerson({
      client,
      family,
      user,
      scopes,
      nonce: null,
      mark: token.marked ? mark : null,
      now,
    });
    const outcome = await store.rotateRefreshToken(token, prepared.tokens, now);
    return outcomes.respond(token, prepared, outcome);
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
