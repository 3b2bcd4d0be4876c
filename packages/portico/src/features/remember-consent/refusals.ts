import { forEachLiving } from '../../grants/living-access.ts';
import type { Server } from '../../server.ts';
import type { Authorization } from '../../store/grant.ts';
import type { ConsentRequest } from '../../store/requests.ts';
import { consentDetails, consentOf } from './kept-consent.ts';

/**
 * Records that the person has just refused scopes on the page: the shown scopes that the person
 * does not allow. From then on, earlier authorizations with one of these scopes no longer let the
 * server skip the page. The same is true for authorizations that start from them in the meantime.
 * This is recorded even while the setting is off, because an operator may turn it on later.
 */
export async function recordRefusal(
  server: Server,
  { clientId, audience, asked: { person, scopes: shown } }: ConsentRequest,
  allowed: readonly string[],
): Promise<void> {
  const refused = shown.filter((name) => !allowed.includes(name));
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
