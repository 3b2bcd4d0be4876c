import { OAuthError } from '../errors.ts';
import { quotedList } from '../quoting.ts';
import { scopesInForce, type ScopeCatalog } from '../tokens/scopes.ts';
import type { Client, Family, StoredGrant } from '../store/store.ts';
import { quotedAudience } from '../tokens/resource-indicators.ts';
import { invalidGrant } from './outcome.ts';

/** Why a code or refresh token gives nothing, for the log: the reasons that both have. */

export const INACTIVE_ACCOUNT = 'the account is gone, or may no longer sign in';

export function anothersClient(what: string, { family }: StoredGrant): string {
  return `the ${what} belongs to the client ${family.clientId}`;
}

export function expired(what: string, { expiresAt }: StoredGrant): string {
  return `the ${what} expired at ${new Date(expiresAt).toISOString()}`;
}

/** Tokens for another target than the server's would be good for nothing here: `invalid_grant`, before any is issued. */
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
