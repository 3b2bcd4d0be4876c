import { samePerson, type PersonReference } from '../contracts/person.ts';
import { hasOneDestination, isVerified } from '../clients/who-asks.ts';
import type { Server } from '../server.ts';
import type { Client } from '../store/client.ts';
import { scopesInForce } from '../tokens/scopes.ts';

/**
 * What this person allowed this client before, for this audience: the scopes of their living
 * authorizations that the client is still registered for and the server still offers. Does not
 * check whether the person still has the permissions. An authorization counts once its code was
 * redeemed: before that, it may have reached the wrong client.
 *
 * To a person, an unverified client is the place where its answers go, and an authorization does
 * not record that place. So nothing counts for such a client with several places: one could get
 * what another was allowed (decision 38).
 */
export async function grantedBefore(
  { store, scopes: catalog, clock }: Server,
  client: Client,
  person: PersonReference,
  audience: string | null,
): Promise<readonly string[]> {
  if (!isVerified(client) && !hasOneDestination(client.redirectUris)) return [];
  const living = await store.authorizations.listAuthorizations(person, clock());
  const granted = living.flatMap(({ family, redeemed }) =>
    redeemed &&
    family.clientId === client.id &&
    family.audience === audience &&
    samePerson(family.person, person)
      ? family.scopes
      : [],
  );
  return scopesInForce([...new Set(granted)], client.scopes, catalog);
}
