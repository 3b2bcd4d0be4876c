import type { Accounts } from '../accounts.ts';
import { OAuthError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import { quotedList } from '../quoting.ts';
import { scopesInForce, type ScopeCatalog } from '../tokens/scopes.ts';
import type { Client, Family, Grant, StoredGrant } from '../store/store.ts';
import { quotedAudience } from '../tokens/resource-indicators.ts';
import { requireGrant } from './grant.ts';
import type { Issuing } from './issuing.ts';
import { invalidGrant, type Again, type OutcomesOptions } from './outcome.ts';

/** What the grants that exchange a stored code or refresh token share: what they need, and their reasons to refuse. */

export interface StoredGrantOptions extends OutcomesOptions {
  readonly accounts: Pick<Accounts, 'active'>;
  readonly issuing: Pick<Issuing, 'forPerson' | 'again'>;
  readonly scopes: ScopeCatalog;
  /** `oauth_server:audience`; null when it is empty. */
  readonly audience: string | null;
}

export const INACTIVE_ACCOUNT = 'the account is gone, or may no longer sign in';

export function ofAnotherClient(what: string, { family }: StoredGrant): string {
  return `the ${what} belongs to the client ${family.clientId}`;
}

export function expired(what: string, { expiresAt }: StoredGrant): string {
  return `the ${what} expired at ${new Date(expiresAt).toISOString()}`;
}

/** Refuses a grant for another target than the server's with `invalid_grant`: its tokens would be good for nothing here. */
export function requireSameAudience({ audience }: Family, configured: string | null): void {
  if (audience === configured) return;
  throw invalidGrant(
    `the grant was made for ${quotedAudience(audience)}, oauth_server:audience is ${quotedAudience(configured)}`,
  );
}

/** The scopes of the grant that its client is still registered for and the server still offers; `invalid_scope` if none is. */
export function requireScopesInForce(
  family: Family,
  client: Client,
  catalog: ScopeCatalog,
): readonly string[] {
  const scopes = scopesInForce(family.scopes, client.scopes, catalog);
  if (scopes.length > 0) return scopes;
  throw new OAuthError(
    'invalid_scope',
    'Nothing of what was granted can be used any more.',
    `the client or the server no longer has any of the scopes granted: ${quotedList(family.scopes)}`,
  );
}

/**
 * Looks again at all that may have changed since a grant was used: its client, the account, the scopes in force. That the grant itself
 * has expired meanwhile changes nothing, since it was used in time.
 */
export function createAgain(
  grant: Grant,
  { accounts, issuing, scopes: catalog, audience, clock }: StoredGrantOptions,
  scopesOf: (inForce: readonly string[], form: Parameters) => readonly string[],
): Again {
  return async (client, form, request, { tokens, response }) => {
    requireGrant(client, grant);
    requireSameAudience(request.family, audience);
    const issued = { ...request.family, scopes: tokens.accessToken.scopes };
    const scopes = scopesOf(requireScopesInForce(issued, client, catalog), form);
    const user = await accounts.active(request.family.person);
    if (user === null) throw invalidGrant(INACTIVE_ACCOUNT);
    return issuing.again({ ...request, client, user, scopes, now: clock() }, response);
  };
}
