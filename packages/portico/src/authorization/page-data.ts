import { readProfile, type UserInterface } from '../person.ts';
import type { Words } from '../pages/words.ts';
import { isVerified } from '../clients/who-asks.ts';
import type { ClientLook, RegisteredBy } from '../store/client.ts';
import {
  scopeDescription,
  scopeLabel,
  type ScopeCatalog,
  type ScopeHeading,
} from '../tokens/scopes.ts';

/** A scope as it appears on pages. */
export interface ShownScope {
  /** The scope's name, as clients request it. */
  readonly name: string;
  /** The text that tells the user what the scope allows. */
  readonly label: string;
  /** A longer explanation of the scope, or null. */
  readonly description: string | null;
  /**
   * The name of the scope's checkbox in the form. If the form contains this field with a value that
   * is not empty, the box is checked. Missing if the person cannot choose the scope.
   */
  readonly field?: string;
}

/** The heading for scopes that no other heading accepts. */
const LAST_HEADING: ScopeHeading = { group: 'other', title: 'consent.scopes', holds: () => true };

/** A group of scopes with a heading. */
export interface ShownScopeGroup {
  /**
   * The group's name: `identity` (who the person is), `read`, `change`, or `other` for all other
   * scopes.
   */
  readonly group: string;
  /** The text of the group's heading. */
  readonly title: string;
  /** The scopes in the group. Never empty. */
  readonly scopes: readonly ShownScope[];
}

/** The person who is signed in. A value is null if the host provides no text. */
export interface ShownPerson {
  readonly name: string | null;
  readonly email: string | null;
}

/** Returns the signed-in person's data for views. */
export function shownPerson(user: UserInterface): ShownPerson {
  const { name, email } = readProfile(user) ?? {};
  return { name: textOrNull(name), email: textOrNull(email) };
}

/**
 * Returns null for anything but text. Views cannot escape other values, and a host may return them.
 */
function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/**
 * Returns the scopes as a page shows them. Each scope in `choosable` also gets a checkbox field.
 */
export function shownScopes(
  names: readonly string[],
  catalog: ScopeCatalog,
  { t }: Words,
  choosable: readonly string[] = [],
): readonly ShownScope[] {
  return names.map((name) => {
    const scope = catalog.get(name);
    return {
      name,
      label: scope === undefined ? name : t(scopeLabel(name)),
      description: (scope?.description ?? null) === null ? null : t(scopeDescription(name)),
      ...(choosable.includes(name) ? { field: `scope.${name}` } : {}),
    };
  });
}

/** Puts each scope into the group of the first heading that accepts it. Leaves out empty groups. */
export function shownGroups(
  names: readonly string[],
  {
    catalog,
    headings,
  }: { readonly catalog: ScopeCatalog; readonly headings: readonly ScopeHeading[] },
  words: Words,
  choosable: readonly string[] = [],
): readonly ShownScopeGroup[] {
  const all = [...headings, LAST_HEADING];
  const below = Map.groupBy(names, (name) => all.find((heading) => heading.holds(name)));
  return all.flatMap((heading) => {
    const held = below.get(heading);
    if (held === undefined) return [];
    const { group, title } = heading;
    return [{ group, title: words.t(title), scopes: shownScopes(held, catalog, words, choosable) }];
  });
}

/** The website and logo of a client. Unverified clients have neither. */
export interface ShownLook {
  /**
   * The client's website, with the hostname in ASCII. Null if the client has no website or is not
   * verified.
   */
  readonly site: { readonly href: string; readonly host: string } | null;
  /**
   * The path of the client's logo. Null if the client has no logo or is not verified, or if
   * `oauth_server:client_logos` is off.
   */
  readonly logo: string | null;
}

interface LookOfClient extends ClientLook {
  readonly id: string;
  readonly registeredBy: RegisteredBy;
}

/** `logoPath` is the path under which the server serves logos, or null if it serves none. */
export function shownLook(client: LookOfClient, logoPath: string | null): ShownLook {
  if (!isVerified(client)) return { site: null, logo: null };
  const { id, siteUri, logoHash } = client;
  const address = new URLSearchParams({ client_id: id, v: logoHash ?? '' });
  return {
    site: siteUri === undefined ? null : { href: siteUri, host: new URL(siteUri).host },
    logo: logoPath === null || logoHash === undefined ? null : `${logoPath}?${address.toString()}`,
  };
}
