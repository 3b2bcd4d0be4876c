import { samePerson, type PersonReference } from '../../person.ts';
import { hasOneDestination, isVerified } from '../../clients/who-asks.ts';
import type { Server } from '../../server.ts';
import type { Client } from '../../store/client.ts';
import { givenBy } from '../../store/given-access.ts';
import { scopesInForce } from '../../tokens/scopes.ts';

/**
 * Returns the scopes that this person has allowed this client before, for this audience. They come
 * from active authorizations. The client must still be registered for them, and the server must
 * still offer them. Does not check the person's permissions. An authorization counts only after its
 * code was redeemed: before that, it may have reached the wrong client. What an organization gave
 * does not count: the person did not allow it.
 *
 * A person recognizes an unverified client by the place that receives its responses. An
 * authorization does not record that place. So nothing counts for an unverified client with several
 * places: one place could get what another was allowed (decision 38).
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
