import { samePerson, type PersonReference } from '../../person.ts';
import { hasOneDestination, isVerified } from '../../clients/who-asks.ts';
import type { Server } from '../../server.ts';
import type { Client } from '../../store/client.ts';
import { givenBy } from '../../store/given-access.ts';
import { scopesInForce } from '../../tokens/scopes.ts';

/**
 * Returns the scopes that this user has already allowed this client for this audience. Considers
 * only active authorizations. Includes only scopes for which the client is still registered and
 * which the server still offers. Does not check the user's permissions.
 *
 * Does not consider these authorizations:
 *
 * - An authorization without tokens, because another client may have received its authorization
 *   code.
 * - An authorization from an organization, because the user did not allow it.
 * - Any authorization of an unverified client that can receive responses at several places. Users
 *   recognize such a client by where it receives the response, but the authorization does not store
 *   this. Without this rule, one place could get access that the user allowed for another place
 *   (decision 38).
 */
export async function grantedBefore(
  { store, resources, clock }: Server,
  client: Client,
  person: PersonReference,
  audience: string | null,
): Promise<readonly string[]> {
  if (!isVerified(client) && !hasOneDestination(client.redirectUris)) return [];
  const living = await store.authorizations.listAuthorizations(person, clock());
  const granted = living.flatMap(({ family, redeemed }) =>
    redeemed &&
    givenBy(family.details) === null &&
    family.clientId === client.id &&
    family.audience === audience &&
    samePerson(family.person, person)
      ? family.scopes
      : [],
  );
  return scopesInForce([...new Set(granted)], client.scopes, resources.scopesOf(audience));
}
