import type { Words } from '../pages/words.ts';
import { answerGoesTo } from '../clients/redirect-uris.ts';
import { namedLikeServer, unverified, type Unverified } from '../clients/who-asks.ts';
import type { ScopeCatalog, ScopeHeading } from '../tokens/scopes.ts';
import type { ConsentQuestion } from './consent-question.ts';
import { accessLasts, type AccessLasts, type TokenLifetimes } from './access-lasts.ts';
import {
  shownLook,
  shownGroups,
  shownPerson,
  shownScopes,
  type ShownLook,
  type ShownPerson,
  type ShownScope,
  type ShownScopeGroup,
} from './page-data.ts';

/** Data for the view `oauth/consent` (AS-8.5, AS-40, docs/consent-page.md). Escape every value. */
export interface ConsentView extends ShownLook {
  /** The server's name, `oauth_server:name`. */
  readonly serverName: string;
  /**
   * The client's name, but never a name that an unverified client gave itself. That name is only in
   * `unverified.calledName`.
   */
  readonly clientName: string;
  /**
   * The facts that the page shows about an unverified client. Null for a client that an operator
   * registered.
   */
  readonly unverified: Unverified | null;
  /** Whether the client's name looks like the server's name. */
  readonly namedLikeServer: boolean;
  /** The signed-in person. */
  readonly person: ShownPerson;
  /**
   * All requested scopes, and the scopes that the client keeps from earlier. Does not include the
   * scopes in `addableGroups`.
   */
  readonly scopes: readonly ShownScope[];
  /** The scopes that this person has not allowed this client before. */
  readonly newScopes: readonly ShownScope[];
  /** The scopes that this person has allowed this client before. */
  readonly grantedScopes: readonly ShownScope[];
  /** `newScopes`, in groups. */
  readonly newGroups: readonly ShownScopeGroup[];
  /** `grantedScopes`, in groups. */
  readonly grantedGroups: readonly ShownScopeGroup[];
  /**
   * Scopes that the client did not request but the person can add, in groups. Each has a `field`.
   * Their boxes start unchecked. All other boxes start checked.
   */
  readonly addableGroups: readonly ShownScopeGroup[];
  /** Whether the person can leave out some of `newScopes` and `grantedScopes`. */
  readonly hasOptional: boolean;
  /** The label of the API that the client wants to use. Missing if the API has no label. */
  readonly resource?: string;
  /** How long the client has access. */
  readonly lasts: AccessLasts;
  /** The path of the page where the person can revoke access. */
  readonly applicationsPath: string;
  /** The host that receives the response, as the page shows it. */
  readonly redirectHost: string;
  /** A hidden field in the form. */
  readonly requestId: string;
  /** A hidden field in the form. */
  readonly csrfToken: string;
  /** The URL that the form is posted to. */
  readonly action: string;
}

/** The values on the page that do not depend on the request. */
export interface ConsentPageSurroundings {
  readonly serverName: string;
  readonly catalog: ScopeCatalog;
  /** The headings for lists of scopes, in order. */
  readonly headings: readonly ScopeHeading[];
  /** The URL that the form posts to. */
  readonly action: string;
  readonly applicationsPath: string;
  /** The path of client logos. Null if the server has no logos. */
  readonly logoPath: string | null;
  readonly lifetimes: TokenLifetimes;
}

/**
 * Returns the page's data. `clientName` never contains a name that an unverified client gave
 * itself. So a view that ignores `unverified` never shows such a name.
 */
export function consentPageData(
  {
    client,
    user,
    scopes: all,
    grantedBefore,
    choices,
    resource,
    redirectUri,
    ...form
  }: ConsentQuestion,
  server: ConsentPageSurroundings,
  words: Words,
): ConsentView {
  const asked = unverified(client, redirectUri, server.serverName, words);
  const { optional, added } = choices ?? { optional: [], added: [] };
  const scopes = all.filter((name) => !added.includes(name));
  const addable = all.filter((name) => added.includes(name));
  const fresh = scopes.filter((name) => !grantedBefore.includes(name));
  const kept = scopes.filter((name) => grantedBefore.includes(name));
  const shown = (names: readonly string[]) => shownScopes(names, server.catalog, words, optional);
  const grouped = (names: readonly string[], choosable: readonly string[]) =>
    shownGroups(names, server, words, choosable);
  return {
    serverName: server.serverName,
    clientName:
      asked === null ? client.name : words.t('client.not_verified', { client: asked.asks }),
    unverified: asked,
    ...shownLook(client, server.logoPath),
    namedLikeServer: namedLikeServer(client, server.serverName),
    person: shownPerson(user),
    scopes: shown(scopes),
    newScopes: shown(fresh),
    grantedScopes: shown(kept),
    newGroups: grouped(fresh, optional),
    grantedGroups: grouped(kept, optional),
    addableGroups: grouped(addable, added),
    hasOptional: scopes.some((name) => optional.includes(name)),
    ...(resource === null ? {} : { resource }),
    lasts: accessLasts(client, server.lifetimes, words),
    applicationsPath: server.applicationsPath,
    redirectHost: asked === null ? answerGoesTo(redirectUri) : asked.answersTo.text,
    requestId: form.requestId,
    csrfToken: form.csrfToken,
    action: server.action,
  };
}
