import type { Accounts } from '../accounts.ts';
import { OAuthError } from '../errors.ts';
import { quotedList } from '../quoting.ts';
import { scopesInForce, type ScopeCatalog } from '../tokens/scopes.ts';
import type { Client, Family, StoredGrant } from '../store/store.ts';
import { quotedAudience } from '../tokens/resource-indicators.ts';
import type { Issuing } from './issuing.ts';
import { invalidGrant, type OutcomesOptions } from './outcome.ts';

/** What the grants that exchange a stored code or refresh token share: what they need, and their reasons to refuse. */

export interface StoredGrantOptions extends OutcomesOptions {
  readonly accounts: Pick<Accounts, 'active'>;
  readonly issuing: Pick<Issuing, 'forPerson'>;
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
