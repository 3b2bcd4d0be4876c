import { actedBy, type Acting } from '../auditing/audit.ts';
import type { PersonReference } from '../person.ts';
import type { Server } from '../server.ts';
import type { Authorization } from '../store/grant.ts';
import { goesBackTo } from '../store/prior-consent.ts';

/**
 * Calls `act` for each active authorization of the person that `isMeant` accepts. Returns the
 * number of calls. `act` must end or change the authorization, so that `isMeant` no longer accepts
 * it.
 *
 * A new authorization can start from an active one without the consent page (`PriorConsent`). So
 * the function searches again until it finds none. It ignores new authorizations from the consent
 * page.
 */
export async function forEachLiving(
  { store, clock }: Server,
  person: PersonReference,
  isMeant: (authorization: Authorization) => boolean,
  act: (authorization: Authorization) => Promise<void>,
): Promise<number> {
  let isIncluded = isMeant;
  for (let found = 0; ;) {
    const all = await store.authorizations.listAuthorizations(person, clock());
    const living = all.filter(isIncluded);
    if (living.length === 0) return found;
    if (found === 0) {
      const newest =
        living
          .map(({ family }) => family.id)
          .toSorted()
          .at(-1) ?? '';
      isIncluded = (each) => isMeant(each) && goesBackTo(newest, each.family.details);
    }
    for (const each of living) await act(each);
    found += living.length;
  }
}

/** Why access ends, and which administrator ends it. */
export interface Ending extends Acting {
  readonly reason: 'person' | 'operator';
}

/**
 * Revokes each active authorization of the person that `isMeant` accepts. Also revokes those that
 * start from them in the meantime. Returns how many it found.
 */
export function revokeEachLiving(
  server: Server,
  person: PersonReference,
  isMeant: (authorization: Authorization) => boolean,
  { reason, ...acting }: Ending,
): Promise<number> {
  const { store, audit, clock } = server;
  return forEachLiving(server, person, isMeant, async ({ family }) => {
    const { id: authorization, clientId } = family;
    if (!(await store.authorizations.revokeFamily(authorization, clock()))) return;
    const about = { authorization, clientId, person, ...actedBy(acting) };
    await audit({ type: 'family_revoked', ...about, reason });
  });
}
