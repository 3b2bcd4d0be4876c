import {
  calledName,
  comesFrom,
  getDestination,
  isVerified,
  type Destination,
} from '../../clients/who-asks.ts';
import { givenBy } from '../../store/given-access.ts';
import type { Words } from '../../pages/words.ts';
import type { Authorization } from '../../store/grant.ts';
import { intersectScopes, type ScopeCatalog, type ScopeHeading } from '../../tokens/scopes.ts';
import { shownGroups, shownLook, shownScopes } from '../../authorization/page-data.ts';
import type { ShownApplication, ShownDate } from '../../endpoints/replies/applications-view.ts';

/**
 * An application with everything that the user has allowed it. Times are in milliseconds since
 * 1970.
 */
export interface AllowedApplication extends Omit<
  ShownApplication,
  'givenBy' | 'since' | 'lastActive' | 'scopes' | 'groups' | 'csrfToken'
> {
  /** The `iss` of each organization that granted access for the user. */
  readonly issuers: readonly string[];
  /** When the user first allowed the application. */
  readonly since: number;
  readonly lastActive: number | null;
  readonly scopes: readonly string[];
}

/** Returns one entry per application, which combines all authorizations and their scopes. */
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
      // All authorizations describe the application in the same way.
      ...(before ?? described(authorization, { serverName, logoPath }, words)),
      issuers: [...new Set([...(before?.issuers ?? []), ...issuerOf(authorization)])],
      since: before?.since ?? createdAt,
      lastActive: later(before?.lastActive ?? null, lastActive(authorization)),
      scopes: [...new Set(scopes)],
    });
  }
  return [...applications.values()];
}

function described(
  authorization: Authorization,
  { serverName, logoPath }: { readonly serverName: string; readonly logoPath: string | null },
  words: Words,
) {
  const { family, clientRegisteredBy: registeredBy } = authorization;
  const { clientId } = family;
  return {
    clientId,
    ...listNames(authorization, serverName, words),
    ...shownLook({ id: clientId, registeredBy, ...authorization.clientLook }, logoPath),
    answersTo: listPlaces(authorization.clientRedirectUris, words),
  };
}

/**
 * Returns the page data of one application. `held`: the scopes that the user's permissions allow
 * now.
 */
export function shownApplication(
  allowed: AllowedApplication,
  held: readonly string[],
  csrfToken: string,
  server: { readonly catalog: ScopeCatalog; readonly headings: readonly ScopeHeading[] },
  words: Words,
): ShownApplication {
  const { clientId, name, unverified, answersTo, site, logo, issuers, since, lastActive } = allowed;
  return {
    clientId,
    name,
    unverified,
    site,
    logo,
    givenBy: issuers.length === 0 ? null : issuers.join(', '),
    since: shownDate(since, words),
    lastActive: lastActive === null ? null : shownDate(lastActive, words),
    answersTo,
    scopes: shownScopes(held, server.catalog, words),
    groups: shownGroups(held, server, words),
    csrfToken,
  };
}

function issuerOf({ family }: Authorization): readonly string[] {
  const issuer = givenBy(family.details);
  return issuer === null ? [] : [issuer];
}

function shownDate(time: number, { locale }: Words): ShownDate {
  const date = new Date(time);
  return {
    iso: date.toISOString(),
    text: date.toLocaleDateString(locale, { dateStyle: 'long', timeZone: 'UTC' }),
  };
}

/**
 * Returns when the client last used the authorization, or null. Earlier releases did not store this
 * time. For an authorization that was used under such a release, returns when it began.
 */
function lastActive({ usedAt, redeemed, createdAt }: Authorization): number | null {
  return usedAt ?? (redeemed ? createdAt : null);
}

function later(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}

function listPlaces(redirectUris: readonly string[], words: Words): readonly Destination[] {
  const places = redirectUris.map((uri) => getDestination(uri, words));
  return [...new Map(places.map((place) => [place.text, place])).values()];
}

/**
 * Returns the names of an application for a page. Some views do not mark unverified clients, so
 * `name` of such a client tells where it comes from.
 */
function listNames(authorization: Authorization, serverName: string, words: Words) {
  const { family, clientName: name } = authorization;
  const { clientRegisteredBy: registeredBy, clientRedirectUris: redirectUris } = authorization;
  if (isVerified({ registeredBy })) return { name, unverified: null };
  const from = comesFrom({ id: family.clientId, registeredBy, redirectUris }, words);
  return {
    name: words.t('client.not_verified', { client: from }),
    unverified: { from, calledName: calledName(name, serverName) },
  };
}
