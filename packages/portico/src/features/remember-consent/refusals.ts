import type { Server } from '../../server.ts';
import type { ConsentRequest } from '../../store/requests.ts';
import { consentDetails, consentOf } from './kept-consent.ts';

/**
 * Records what the person has now refused on the page: all shown scopes except these. What they
 * allowed before, and what began from it, no longer covers a request if it has one of them. Looks
 * again until it finds none: one may have begun another at the same moment.
 */
export async function recordRefusal(
  { store, clock }: Server,
  { clientId, audience, asked: { person, scopes: shown } }: ConsentRequest,
  allowed: readonly string[],
): Promise<void> {
  const refused = shown.filter((name) => !allowed.includes(name));
  if (refused.length === 0) return;
  const { authorizations } = store;
  for (;;) {
    let isDone = true;
    for (const { family } of await authorizations.listAuthorizations(person, clock())) {
      const consent = consentOf(family.details);
      if (consent === null || consent.refused === true) continue;
      if (family.clientId !== clientId || family.audience !== audience) continue;
      if (!family.scopes.some((name) => refused.includes(name))) continue;
      await authorizations.addDetails(family.id, consentDetails({ ...consent, refused: true }));
      isDone = false;
    }
    if (isDone) return;
  }
}
