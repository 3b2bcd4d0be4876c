import type { UserInterface } from '../../contracts/person.ts';
import type { ScopeCatalog } from '../tokens/scopes.ts';
import type { ConsentQuestion } from './consent.ts';

/** What the view `oauth/consent` is rendered with (AS-8.5); `action` is where its form is posted. */
export function consentPageData(
  { client, user, scopes, redirectUri, requestId, csrfToken }: ConsentQuestion,
  server: { readonly serverName: string; readonly catalog: ScopeCatalog; readonly action: string },
) {
  return {
    serverName: server.serverName,
    clientName: client.name,
    person: shownPerson(user),
    scopes: shownScopes(scopes, server.catalog),
    redirectHost: new URL(redirectUri).host,
    requestId,
    csrfToken,
    action: server.action,
  };
}

/** As the views name the person who is signed in. */
export function shownPerson(user: UserInterface) {
  const { name = null, email = null } = user.getProfile();
  return { name, email };
}

/** Each with its label. */
export function shownScopes(names: readonly string[], catalog: ScopeCatalog) {
  return names.map((name) => ({ name, label: catalog.get(name)?.label ?? name }));
}
