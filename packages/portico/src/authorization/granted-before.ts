import { samePerson, type PersonReference } from '../contracts/person.ts';
import { hasOneDestination, isVerified } from '../clients/who-asks.ts';
import type { Client } from '../store/client.ts';
import type { AuthorizationRecords } from '../store/sql/authorizations.ts';
import { scopesInForce, type ScopeCatalog } from '../tokens/scopes.ts';

/**
 * What this person allowed this client before, for this audience: the scopes of their living authorizations that the client is
 * still registered for and the server still offers. Does not check whether the person still holds the permissions. An authorization
 * counts once its code was redeemed: before that, it may have reached the wrong client.
 *
 * A client that no operator registered is to the person the place where its answer goes, and an authorization does not tell where that
 * was. So nothing counts for such a client that has several: one could have what another was allowed (decision 38).
 */
export type GrantedBefore = (
  client: Client,
  person: PersonReference,
  audience: string | null,
) => Promise<readonly string[]>;

export interface GrantedBeforeOptions {
  readonly store: AuthorizationRecords;
  readonly scopes: ScopeCatalog;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

export function createGrantedBefore({ store, scopes: catalog, clock }: GrantedBeforeOptions): GrantedBefore {
  return async (client, person, audience) => {
    if (!isVerified(client) && !hasOneDestination(client)) return [];
    const living = await store.listAuthorizations(person, clock());
    const granted = living.flatMap(({ family, redeemed }) =>
      redeemed &&
      family.clientId === client.id &&
      family.audience === audience &&
      samePerson(family.person, person)
        ? family.scopes
        : [],
    );
    return scopesInForce([...new Set(granted)], client.scopes, catalog);
  };
}
