import type { UserInterface } from '../../contracts/person.ts';
import type { Words } from '../../words/words.ts';
import { answerGoesTo } from '../clients/redirect-uris.ts';
import { unverified } from '../clients/who-asks.ts';
import { scopeLabel, type ScopeCatalog } from '../tokens/scopes.ts';
import type { ConsentQuestion } from './consent.ts';

/**
 * What the view `oauth/consent` is rendered with (AS-8.5, docs/host-contract.md); `action` is where its form is posted. A view that
 * knows nothing of clients that no operator registered still says who asks: `clientName` is no name that anybody may have given
 * himself.
 */
export function consentPageData(
  { client, user, scopes, grantedBefore, redirectUri, requestId, csrfToken }: ConsentQuestion,
  server: { readonly serverName: string; readonly catalog: ScopeCatalog; readonly action: string },
  words: Words,
) {
  const shown = (names: readonly string[]) => shownScopes(names, server.catalog, words);
  const asked = unverified(client, redirectUri, server.serverName, words);
  return {
    serverName: server.serverName,
    clientName: asked === null ? client.name : words.t('client.not_verified', { client: asked.asks }),
    unverified: asked,
    person: shownPerson(user),
    scopes: shown(scopes),
    newScopes: shown(scopes.filter((name) => !grantedBefore.includes(name))),
    grantedScopes: shown(scopes.filter((name) => grantedBefore.includes(name))),
    redirectHost: asked === null ? answerGoesTo(redirectUri) : asked.answersTo.text,
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
export function shownScopes(names: readonly string[], catalog: ScopeCatalog, { t }: Pick<Words, 't'>) {
  return names.map((name) => ({ name, label: catalog.has(name) ? t(scopeLabel(name)) : name }));
}
