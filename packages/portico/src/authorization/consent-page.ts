import type { Words } from '../words/words.ts';
import { answerGoesTo } from '../clients/redirect-uris.ts';
import { namedLikeServer, unverified, type Unverified } from '../clients/who-asks.ts';
import type { Client } from '../store/client.ts';
import type { ScopeCatalog, ScopeHeading } from '../tokens/scopes.ts';
import type { ConsentQuestion } from './consent.ts';
import { durationText } from './durations.ts';
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

/** The data of the view `oauth/consent` (AS-8.5, AS-40, docs/pages.md). Escape all of it. */
export interface ConsentView extends ShownLook {
  /** `oauth_server:name`. */
  readonly serverName: string;
  /** The client. Never a self-given name: that is `unverified.calledName`. */
  readonly clientName: string;
  /** Null for a client that an operator registered. */
  readonly unverified: Unverified | null;
  /** Whether the client's name resembles the server's. */
  readonly namedLikeServer: boolean;
  /** The signed-in person. */
  readonly person: ShownPerson;
  /** Everything requested, and what is kept from before. */
  readonly scopes: readonly ShownScope[];
  /** Those that this person has not allowed this client before. */
  readonly newScopes: readonly ShownScope[];
  /** The others. */
  readonly grantedScopes: readonly ShownScope[];
  /** `newScopes` by group. */
  readonly newGroups: readonly ShownScopeGroup[];
  /** `grantedScopes` by group. */
  readonly grantedGroups: readonly ShownScopeGroup[];
  /** How long the client will have access. */
  readonly lasts: AccessLasts;
  /** Where the person can revoke it: the path of the page of applications. */
  readonly applicationsPath: string;
  /** Where the answer goes. */
  readonly redirectHost: string;
  /** For the form. */
  readonly requestId: string;
  /** For the form. */
  readonly csrfToken: string;
  /** Where the form is posted. */
  readonly action: string;
}

/** How long a client has access that is allowed now. */
export interface AccessLasts {
  /**
   * Whether it continues until the person removes it, or it is not used for that time. If false, it
   * ends after that time.
   */
  readonly renews: boolean;
  /** In words, such as "30 days". */
  readonly time: string;
}

/** What the page needs besides the question. */
export interface ConsentPageSurroundings {
  readonly serverName: string;
  readonly catalog: ScopeCatalog;
  /** The headings of lists of scopes, in their order. */
  readonly headings: readonly ScopeHeading[];
  /** The URL that the form posts to. */
  readonly action: string;
  readonly applicationsPath: string;
  /** The path of client logos; null if there are none. */
  readonly logoPath: string | null;
  /** In seconds. */
  readonly lifetimes: { readonly access_token_ttl: number; readonly refresh_token_ttl: number };
}

/**
 * The data of the page. `clientName` is never a self-given name, so a view that does not know about
 * unverified clients still names the client correctly.
 */
export function consentPageData(
  { client, user, scopes, grantedBefore, redirectUri, requestId, csrfToken }: ConsentQuestion,
  server: ConsentPageSurroundings,
  words: Words,
): ConsentView {
  const asked = unverified(client, redirectUri, server.serverName, words);
  const fresh = scopes.filter((name) => !grantedBefore.includes(name));
  const kept = scopes.filter((name) => grantedBefore.includes(name));
  const shown = (names: readonly string[]) => shownScopes(names, server.catalog, words);
  return {
    serverName: server.serverName,
    clientName: asked === null ? client.name : words.t('client.not_verified', { client: asked.asks }),
    unverified: asked,
    ...shownLook(client, server.logoPath),
    namedLikeServer: namedLikeServer(client, server.serverName),
    person: shownPerson(user),
    scopes: shown(scopes),
    newScopes: shown(fresh),
    grantedScopes: shown(kept),
    newGroups: shownGroups(fresh, server, words),
    grantedGroups: shownGroups(kept, server, words),
    lasts: accessLasts(client, server, words),
    applicationsPath: server.applicationsPath,
    redirectHost: asked === null ? answerGoesTo(redirectUri) : asked.answersTo.text,
    requestId,
    csrfToken,
    action: server.action,
  };
}

/** A client without refresh tokens has access for the lifetime of its one access token. */
function accessLasts(
  { grants }: Client,
  { lifetimes }: ConsentPageSurroundings,
  { locale }: Words,
): AccessLasts {
  const renews = grants.includes('refresh_token');
  const seconds = renews ? lifetimes.refresh_token_ttl : lifetimes.access_token_ttl;
  return { renews, time: durationText(seconds, locale) };
}
