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

/**
 * The data that the view `oauth/consent` receives (AS-8.5, AS-40, docs/consent-page.md). The view
 * must escape every value.
 */
export interface ConsentView extends ShownLook {
  /** The server's name, from `oauth_server:name`. */
  readonly serverName: string;
  /**
   * The client's name. For an unverified client, this is a text that the client cannot choose. The
   * name that the client gave itself is only in `unverified.calledName`.
   */
  readonly clientName: string;
  /**
   * What the page says about an unverified client. Null for a client that an operator registered.
   */
  readonly unverified: Unverified | null;
  /**
   * Whether users could mistake the client for this server, because its name looks like the
   * server's name. For an unverified client, part of its name is enough.
   */
  readonly namedLikeServer: boolean;
  /** The person who is signed in. */
  readonly person: ShownPerson;
  /**
   * The requested scopes, and the scopes that the client keeps from an earlier authorization. The
   * scopes in `addableGroups` are not included.
   */
  readonly scopes: readonly ShownScope[];
  /** The scopes in `scopes` that are not in `grantedScopes`. */
  readonly newScopes: readonly ShownScope[];
  /**
   * The scopes in `scopes` that this person has already allowed this client. Always empty, unless
   * clients may request the API's scopes step by step.
   */
  readonly grantedScopes: readonly ShownScope[];
  /** The scopes in `newScopes`, grouped under headings. */
  readonly newGroups: readonly ShownScopeGroup[];
  /** The scopes in `grantedScopes`, grouped under headings. */
  readonly grantedGroups: readonly ShownScopeGroup[];
  /**
   * Scopes that the client did not request but that the person can add, grouped under headings.
   * Each scope has a `field`. The checkboxes for these scopes start unchecked. All other checkboxes
   * start checked.
   */
  readonly addableGroups: readonly ShownScopeGroup[];
  /** Whether at least one scope in `newScopes` or `grantedScopes` is optional. */
  readonly hasOptional: boolean;
  /** The label of the API that the client wants to use. Missing if the API has no label. */
  readonly resource?: string;
  /** How long the client keeps its access. */
  readonly lasts: AccessLasts;
  /**
   * The path of the page where the person can revoke access. If the server has no such page, the
   * path of the application's home page.
   */
  readonly applicationsPath: string;
  /**
   * Where the authorization response goes, as the page shows it: a host, the scheme of an
   * application, or for an unverified client a text such as "a program on this computer".
   */
  readonly redirectHost: string;
  /** The value of the hidden field `request_id` in the consent form. */
  readonly requestId: string;
  /** The value of the hidden field `csrf_token` in the consent form. */
  readonly csrfToken: string;
  /** The URL that the consent form is posted to. */
  readonly action: string;
}

/** Data for the consent page that is the same for every request. */
export interface ConsentPageSurroundings {
  readonly serverName: string;
  readonly catalog: ScopeCatalog;
  /** The headings that group scopes on the page, in order. */
  readonly headings: readonly ScopeHeading[];
  readonly action: string;
  readonly applicationsPath: string;
  /** The path under which the server serves client logos. Null if the server serves no logos. */
  readonly logoPath: string | null;
  readonly lifetimes: TokenLifetimes;
}

/**
 * Returns the data for the consent page. An unverified client can give itself any name, so
 * `clientName` never contains that name. A view that ignores `unverified` therefore never shows it.
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
