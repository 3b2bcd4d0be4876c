import { samePerson, type PersonReference } from '../../person.ts';
import { hasOneDestination, isVerified } from '../../clients/who-asks.ts';
import type { Server } from '../../server.ts';
import type { Client } from '../../store/client.ts';
import { givenBy } from '../../store/given-access.ts';
import { scopesInForce } from '../../tokens/scopes.ts';

/**
 * Returns the scopes that this user has already allowed this client for this audience, in active
 * authorizations. The client must still be registered for them, and the server must still offer
 * them. Does not check the user's permissions.
 *
 * Skips these authorizations:
 *
 * - An authorization without tokens. Another client may have received its code.
 * - An authorization from an organization. The user did not allow it.
 * - Any authorization of an unverified client with several places for responses. Users recognize
 *   such a client by the place, but the authorization does not store it. One place could get access
 *   that the user allowed for another (decision 38).
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
