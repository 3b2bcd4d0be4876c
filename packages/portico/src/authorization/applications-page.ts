import { calledName, comesFrom, destinationOf, isVerified, type Destination } from '../clients/who-asks.ts';
import type { Words } from '../words/words.ts';
import type { Authorization } from '../store/grant.ts';
import { intersectScopes, type ScopeCatalog } from '../tokens/scopes.ts';
import {
  shownGroups,
  shownLook,
  shownScopes,
  type ShownLook,
  type ShownPerson,
  type ShownScope,
  type ShownScopeGroup,
} from './page-data.ts';

/** What the view `oauth/applications` is rendered with (AS-6.10, AS-40, docs/pages.md). All of it is to be escaped. */
export interface ApplicationsView {
  /** `oauth_server:name`. */
  readonly serverName: string;
  /** Who is signed in. */
  readonly person: ShownPerson;
  /** In the order in which they were first allowed. */
  readonly applications: readonly ShownApplication[];
  /** Whether the page answers to a removal. */
  readonly removed: boolean;
  /** Whether that was the removal of all. */
  readonly removedAll: boolean;
  /** Where the forms are posted. */
  readonly action: string;
  /** Where the person is asked whether all is to be removed. */
  readonly removeAllPath: string;
  /** Whether the page asks that. */
  readonly confirming: boolean;
  /** The `csrf_token` of the form that removes all, with `remove` = `all`. */
  readonly csrfToken: string;
  /** The application's own first page. */
  readonly home: string;
}

/** An application that has access. */
export interface ShownApplication extends ShownLook {
  /** For its form. */
  readonly clientId: string;
  /** As registered; for a client that no operator registered where it comes from, and that nobody has verified it. */
  readonly name: string;
  /** Null for a client that an operator registered. */
  readonly unverified: UnverifiedApplication | null;
  /** When the person first allowed it. */
  readonly since: ShownDate;
  /** When tokens were last issued to it; null when none were. */
  readonly lastActive: ShownDate | null;
  /** Where it is answered, each place once. */
  readonly answersTo: readonly Destination[];
  /** What it may do now. */
  readonly scopes: readonly ShownScope[];
  /** The same by what it is about. */
  readonly groups: readonly ShownScopeGroup[];
  /** For its form. */
  readonly csrfToken: string;
}

/** Of a client that no operator registered. */
export interface UnverifiedApplication {
  /** A host in ASCII, "a program on this computer" or "an application on this device", or several. */
  readonly from: string;
  /** What it calls itself; null when that must not be shown. */
  readonly calledName: string | null;
}

/** A day, in UTC. */
export interface ShownDate {
  /** ISO 8601. */
  readonly iso: string;
  /** In words. */
  readonly text: string;
}

/** An application that may act for the person, with all that it was allowed. Times are milliseconds since 1970. */
export interface AllowedApplication extends Pick<
  ShownApplication,
  'clientId' | 'name' | 'unverified' | 'answersTo' | 'site' | 'logo'
> {
  /** The first time. */
  readonly since: number;
  readonly lastActive: number | null;
  readonly scopes: readonly string[];
}

/** Several authorizations of one application are one entry, with the scopes of all. */
export function byApplication(
  authorizations: readonly Authorization[],
  { serverName, logoPath }: { readonly serverName: string; readonly logoPath: string | null },
  words: Words,
): readonly AllowedApplication[] {
  const applications = new Map<string, AllowedApplication>();
  for (const authorization of authorizations) {
    const { family, clientScopes, createdAt } = authorization;
    const { clientId } = family;
    const before = applications.get(clientId);
    const scopes = [...(before?.scopes ?? []), ...intersectScopes(family.scopes, clientScopes)];
    applications.set(clientId, {
      clientId,
      ...namesOf(authorization, serverName, words),
      ...shownLook(
        { id: clientId, registeredBy: authorization.clientRegisteredBy, ...authorization.clientLook },
        logoPath,
      ),
      answersTo: placesOf(authorization.clientRedirectUris, words),
      since: before?.since ?? createdAt,
      lastActive: later(before?.lastActive ?? null, lastActive(authorization)),
      scopes: [...new Set(scopes)],
    });
  }
  return [...applications.values()];
}

/** The data of one; `held` are those of its scopes whose permission the person holds now. */
export function shownApplication(
  { clientId, name, unverified, answersTo, site, logo, since, lastActive }: AllowedApplication,
  held: readonly string[],
  csrfToken: string,
  catalog: ScopeCatalog,
  words: Words,
): ShownApplication {
  return {
    clientId,
    name,
    unverified,
    site,
    logo,
    since: shownDate(since, words),
    lastActive: lastActive === null ? null : shownDate(lastActive, words),
    answersTo,
    scopes: shownScopes(held, catalog, words),
    groups: shownGroups(held, catalog, words),
    csrfToken,
  };
}

function shownDate(time: number, { locale }: Pick<Words, 'locale'>): ShownDate {
  const date = new Date(time);
  return {
    iso: date.toISOString(),
    text: date.toLocaleDateString(locale, { dateStyle: 'long', timeZone: 'UTC' }),
  };
}

/** Tokens of an earlier release left no time behind: then it is that of the authorization. */
function lastActive({ usedAt, redeemed, createdAt }: Authorization): number | null {
  return usedAt ?? (redeemed ? createdAt : null);
}

function later(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}

function placesOf(redirectUris: readonly string[], words: Words): readonly Destination[] {
  const places = redirectUris.map((uri) => destinationOf(uri, words));
  return [...new Map(places.map((place) => [place.text, place])).values()];
}

/** A view that knows nothing of clients that no operator registered must not take their own word for who they are. */
function namesOf(authorization: Authorization, serverName: string, words: Words) {
  const { family, clientName: name } = authorization;
  const { clientRegisteredBy: registeredBy, clientRedirectUris: redirectUris } = authorization;
  if (isVerified({ registeredBy })) return { name, unverified: null };
  const from = comesFrom({ id: family.clientId, registeredBy, redirectUris }, words);
  return {
    name: words.t('client.not_verified', { client: from }),
    unverified: { from, calledName: calledName({ name }, serverName) },
  };
}
