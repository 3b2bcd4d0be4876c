import { forEachLiving } from '../../grants/living-access.ts';
import type { Server } from '../../server.ts';
import type { Authorization } from '../../store/grant.ts';
import type { ConsentRequest } from '../../store/requests.ts';
import { consentDetails, consentOf } from './kept-consent.ts';

/**
 * Records the scopes that the user has just refused on the consent page. An earlier authorization
 * with one of them then no longer lets the server skip the page. Nor does one that has inherited
 * its consent in the meantime. An operator may turn the setting on later, so this works while it is
 * off.
 */
export async function recordRefusal(
  server: Server,
  { clientId, audience, asked: { person } }: ConsentRequest,
  refused: readonly string[],
): Promise<void> {
  if (refused.length === 0) return;
  const isMeant = ({ family }: Authorization) => {
    const consent = consentOf(family.details);
    if (consent === null || consent.refused === true) return false;
    const isSame = family.clientId === clientId && family.audience === audience;
    return isSame && family.scopes.some((name) => refused.includes(name));
  };
  await forEachLiving(server, person, isMeant, async ({ family: { id, details } }) => {
    const consent = consentOf(details);
    if (consent === null) return;
    const added = consentDetails({ ...consent, refused: true });
    await server.store.authorizations.addDetails(id, added);
  });
}
