import { OAuthError } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import { quotedList } from '../quoting.ts';
import { scopesInForce } from '../tokens/scopes.ts';
import type { Client, Grant } from '../store/client.ts';
import type { GrantTypes } from '../store/grant-types.ts';
import type { Family, StoredGrant } from '../store/grant.ts';
import { otherResource, quotedAudience, type Resources } from '../tokens/resource-indicators.ts';
import { parseToken } from '../tokens/token-formats.ts';
import { requireGrant } from './grant.ts';
import type { GrantParts } from './parts.ts';
import { invalidGrant } from './outcome.ts';
import type { Again } from './repeated-answers.ts';

/** Checks for the two kinds of stored grants: authorization codes and refresh tokens. */

export const INACTIVE_ACCOUNT = 'the account no longer exists, or is no longer allowed to sign in';

const REVOKED_TOKEN =
  'the access token from the first use of the code or refresh token was revoked in the meantime';

export function ofAnotherClient(what: string, { family }: StoredGrant): string {
  return `the ${what} was issued to the client ${family.clientId}`;
}

/**
 * Returns why the request cannot use a grant that is bound to a key (RFC 9449 sections 5 and 10).
 * Only for the log.
 */
export function ofAnotherKey(what: string, proved: string | null): string {
  return proved === null
    ? `the ${what} is bound to a key, but the request contains no proof of that key`
    : `the ${what} is bound to a key, but the request contains a proof of a different key`;
}

export function expired(what: string, { expiresAt }: StoredGrant): string {
  return `the ${what} expired at ${new Date(expiresAt).toISOString()}`;
}

/** Throws `invalid_grant` if the server no longer issues tokens for this audience. */
export function requireKnownAudience({ audience }: Family, resources: Resources): void {
  const refused = resources.grantRefusal(audience);
  if (refused !== null) throw invalidGrant(refused);
}

/**
 * Throws `invalid_grant` if people can no longer give this client access. None of the client's
 * authorizations is then valid.
 */
export function requireBeginning(client: Client, grantTypes: GrantTypes): void {
  if (grantTypes.canBeAllowed(client.grants)) return;
  throw invalidGrant(
    'the client is no longer registered for a grant that lets people give it access',
  );
}

/**
 * Returns the grant's scopes that the client and the resource still have. Throws `invalid_scope` if
 * no scope is left.
 */
export function requireScopesInForce(
  family: Family,
  client: Client,
  resources: Resources,
): readonly string[] {
  const scopes = scopesInForce(family.scopes, client.scopes, resources.scopesOf(family.audience));
  if (scopes.length > 0) return scopes;
  throw new OAuthError(
    'invalid_scope',
    'Nothing of what was granted can be used any more.',
    'the client or the server no longer has any of the scopes ' +
      `granted: ${quotedList(family.scopes)}`,
  );
}

/**
 * Returns a function that repeats a response. It checks the client, the account and the scopes
 * again. It does not check the expiry: the grant was valid when it was used.
 */
export function againFor(
  grant: Grant,
  { server, issuing }: GrantParts,
  scopesOf: (
    inForce: readonly string[],
    form: Parameters,
    client: Client,
    family: Family,
  ) => readonly string[],
): Again {
  const { store, accounts, resources, clock } = server;
  return async (client, form, { family, nonce, thumbprint }, issued) => {
    requireGrant(client, grant);
    requireKnownAudience(family, resources);
    const inForce = requireScopesInForce({ ...family, scopes: issued.scopes }, client, resources);
    const scopes = scopesOf(inForce, form, client, family);
    const user = await accounts.active(family.person);
    if (user === null) throw invalidGrant(INACTIVE_ACCOUNT);
    const token = await store.accessTokens.findAccessToken(
      parseToken(issued.response.access_token),
      clock(),
    );
    // Expired tokens stay in the store for an hour. So a missing token was revoked.
    if ('dead' in token && token.dead === 'unknown') throw invalidGrant(REVOKED_TOKEN);
    // The details may have changed. For example, the `sid` is removed when the session ends.
    const details = (await store.authorizations.findHolder(family.id))?.details;
    return issuing.again(
      { client, family: { ...family, details }, user, scopes, thumbprint, nonce, now: clock() },
      issued.response,
    );
  };
}

/** Adds the authorization's id to any OAuthError that `work` throws. */
export async function naming<T>(family: Family | null, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (family !== null && error instanceof OAuthError) error.authorization = family.id;
    throw error;
  }
}

/**
 * Throws `invalid_target` if the request names another resource than the person allowed (RFC 8707
 * section 2.2).
 */
export function requireSameResource(
  { audience }: { readonly audience: string | null },
  resource: string | undefined,
): void {
  const other = otherResource(resource, audience);
  if (other === null) return;
  throw new OAuthError(
    'invalid_target',
    'The resource is not the one that the grant was made for.',
    `the requested resource is ${other}, but the grant is for ${quotedAudience(audience)}`,
  );
}
