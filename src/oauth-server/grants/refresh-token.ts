import { OAuthError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import { quotedList } from '../quoting.ts';
import type { Profiles } from '../profiles/profiles.ts';
import { requireScopes, scopesLeftOut } from '../tokens/scopes.ts';
import type { Client } from '../store/client.ts';
import type { Family, StoredGrant } from '../store/grant.ts';
import type { Store } from '../store/store.ts';
import { otherResource, quotedAudience } from '../tokens/resource-indicators.ts';
import { parseRefreshToken } from '../tokens/token-formats.ts';
import { requireGrant, type GrantHandler } from './grant.ts';
import { createOutcomes, invalidGrant } from './outcome.ts';
import { createRefreshRetries } from './refresh-retry.ts';
import {
  createAgain,
  expired,
  INACTIVE_ACCOUNT,
  naming,
  ofAnotherClient,
  ofAnotherKey,
  requireSameAudience,
  requireScopesInForce,
  type StoredGrantOptions,
} from './stored-grant.ts';

export interface RefreshTokenGrantOptions extends StoredGrantOptions {
  readonly store: Pick<
    Store,
    'findRefreshToken' | 'rotateRefreshToken' | 'revokeReplayed' | 'findKeptAnswer' | 'findAccessToken'
  >;
  /** `oauth_server:refresh_retry_seconds`; 0: a second use is a replay, whenever it comes. */
  readonly refreshRetrySeconds: number;
  readonly profiles: Pick<Profiles, 'governs'>;
}

/**
 * Replaces a refresh token by its successor (RFC 6749 section 6, RFC 9700 section 4.14.2): each is good for one use. Of a client of the profile
 * fapi2, which only its key can act for, it stays the one in use: the same statement replaces it by itself (decision 45).
 */
export function createRefreshTokenGrant(options: RefreshTokenGrantOptions): GrantHandler {
  const {
    store,
    accounts,
    issuing,
    scopes: catalog,
    admitsUnverified,
    audience,
    audit,
    clock,
    refreshRetrySeconds,
    profiles,
  } = options;
  /** The scopes of the new access token: those in force, or the part of them that was asked for. */
  const narrowed = (inForce: readonly string[], client: Client, scope: string | undefined) =>
    requireScopes(scope, {
      available: inForce,
      leftOut: admitsUnverified ? scopesLeftOut(client, catalog) : [],
      refusal: 'The scope reaches beyond what was granted.',
      detail: 'not granted, or no longer',
    });
  const again = createAgain('refresh_token', options, (inForce, form, client) =>
    narrowed(inForce, client, form.get('scope')),
  );
  const outcomes = createOutcomes('refresh_token', options, again);
  const window = refreshRetrySeconds * 1000;
  const retries =
    window === 0 ? null : createRefreshRetries({ store, audit, clock, window, again, requireSame });

  /** Refuses to answer another request than the one that was given these scopes: another token would have to be issued. */
  function requireSame(client: Client, form: Parameters, { family }: StoredGrant, issued: readonly string[]) {
    requireSameResource(family, form.get('resource'));
    const inForce = requireScopesInForce(family, client, catalog);
    const asked = narrowed(inForce, client, form.get('scope'));
    const given = issued.filter((scope) => inForce.includes(scope));
    if (asked.length === given.length && asked.every((scope) => given.includes(scope))) return;
    throw new OAuthError(
      'invalid_scope',
      'The refresh token was used with another scope a moment ago.',
      `the refresh token was used for ${quotedList(issued)}, and is offered for ${quotedList(asked)}`,
    );
  }

  return async (client, form, proved) => {
    const thumbprint = proved?.thumbprint ?? null;
    requireGrant(client, 'refresh_token');
    const presented = form.require('refresh_token');
    const { offered, mark } = parseRefreshToken(presented);
    const requestedScope = form.get('scope');
    const resource = form.get('resource');

    const now = clock();
    const token = await store.findRefreshToken(offered);
    if (token === null) throw invalidGrant('the refresh token is unknown');
    const { family } = token;
    return naming(family, async () => {
      if (family.clientId !== client.id) throw invalidGrant(ofAnotherClient('refresh token', token));
      if (proved !== null) await proved.claim();
      // Before anything ends by a second use: whoever has the token alone cannot use it, and must not end anything by it. Unless it was good
      // without a key once: then a thief may have been the first to show one, and this be the owner.
      if (family.thumbprint !== null && family.thumbprint !== thumbprint) {
        if (token.used && family.isBoundLate === true) await outcomes.revokeReplayed(token);
        throw invalidGrant(ofAnotherKey('refresh token', thumbprint));
      }
      if (token.used) {
        const answer =
          retries === null ? null : await retries.answer({ client, form, thumbprint }, presented, token);
        if (answer !== null) return answer;
        // A replay: the application or a thief holds a successor, and nobody can tell which.
        await outcomes.revokeReplayed(token);
        throw invalidGrant('the refresh token was used before; its authorization is revoked');
      }
      if (token.expiresAt <= now) throw invalidGrant(expired('refresh token', token));
      requireSameResource(family, resource);
      requireSameAudience(family, audience);
      const scopes = narrowed(requireScopesInForce(family, client, catalog), client, requestedScope);
      const user = await accounts.active(family.person);
      if (user === null) throw invalidGrant(INACTIVE_ACCOUNT);
      const stays = profiles.governs(client);
      const again = stays ? presented : null;
      const isBoundLate = family.isBoundLate === true || family.thumbprint === null;
      const request = {
        client,
        family,
        user,
        scopes,
        thumbprint,
        nonce: null,
        mark,
        again,
        isBoundLate,
        now,
      };
      const prepared = await issuing.forPerson(request);
      const sealed = retries === null || stays ? null : retries.seal(presented, token, prepared, now);
      const outcome = await store.rotateRefreshToken(token, prepared.tokens, now, sealed);
      if (retries === null || stays || outcome.issued !== false)
        return outcomes.respond(form, request, token, prepared, outcome);
      // Another request with the same token was quicker: its answer is this one's too.
      const answer = await retries.answer({ client, form, thumbprint }, presented, token);
      if (answer !== null) return answer;
      const refusal = (await store.revokeReplayed(token, clock())) ? 'used' : 'revoked';
      return outcomes.respond(form, request, token, prepared, { issued: false, refusal });
    });
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
