import type { UserInterface } from '../contracts/person.ts';
import type { Words } from '../words/words.ts';
import { isVerified } from '../clients/who-asks.ts';
import type { ClientLook, RegisteredBy } from '../store/client.ts';
import { scopeDescription, scopeLabel, type ScopeCatalog, type ScopeHeading } from '../tokens/scopes.ts';

/** A scope as the pages show it. */
export interface ShownScope {
  /** As clients ask for it. */
  readonly name: string;
  /** What it allows. */
  readonly label: string;
  /** A longer explanation; null for none. */
  readonly description: string | null;
}

/** Above the scopes that no other heading holds. */
const LAST_HEADING: ScopeHeading = { group: 'other', title: 'consent.scopes', holds: () => true };

/** Scopes below one heading. */
export interface ShownScopeGroup {
  /** `identity` (who the person is), `read` or `change`; `other` without such groups. */
  readonly group: string;
  /** The heading of the group. */
  readonly title: string;
  /** Never empty. */
  readonly scopes: readonly ShownScope[];
}

/** The signed-in person; null for members that the host does not know. */
export interface ShownPerson {
  readonly name: string | null;
  readonly email: string | null;
}

/** The signed-in person, as the views name them. */
export function shownPerson(user: UserInterface): ShownPerson {
  const { name = null, email = null } = user.getProfile();
  return { name, email };
}

/** Each with its label. */
export function shownScopes(
  names: readonly string[],
  catalog: ScopeCatalog,
  { t }: Words,
): readonly ShownScope[] {
  return names.map((name) => {
    const scope = catalog.get(name);
    return {
      name,
      label: scope === undefined ? name : t(scopeLabel(name)),
      description: (scope?.description ?? null) === null ? null : t(scopeDescription(name)),
    };
  });
}

/** The same below headings: each scope below the first that holds it. No heading is empty. */
export function shownGroups(
  names: readonly string[],
  { catalog, headings }: { readonly catalog: ScopeCatalog; readonly headings: readonly ScopeHeading[] },
  words: Words,
): readonly ShownScopeGroup[] {
  const all = [...headings, LAST_HEADING];
  const below = Map.groupBy(names, (name) => all.find((heading) => heading.holds(name)));
  return all.flatMap((heading) => {
    const held = below.get(heading);
    if (held === undefined) return [];
    const { group, title } = heading;
    return [{ group, title: words.t(title), scopes: shownScopes(held, catalog, words) }];
  });
}

/** The look of a client that an operator registered. Nothing of it comes from strangers. */
export interface ShownLook {
  /** Its web site, with the host in ASCII; null for none. */
  readonly site: { readonly href: string; readonly host: string } | null;
  /** The path of its logo; null for none, and if `oauth_server:client_logos` is off. */
  readonly logo: string | null;
}

/** What is kept of the look of a client. */
interface LookOfClient extends ClientLook {
  readonly id: string;
  readonly registeredBy: RegisteredBy;
}

/** `logoPath` is the path of logos; null if there are none. */
export function shownLook(client: LookOfClient, logoPath: string | null): ShownLook {
  if (!isVerified(client)) return { site: null, logo: null };
  const { id, siteUri, logoHash } = client;
  const address = new URLSearchParams({ client_id: id, v: logoHash ?? '' });
  return {
    site: siteUri === undefined ? null : { href: siteUri, host: new URL(siteUri).host },
    logo: logoPath === null || logoHash === undefined ? null : `${logoPath}?${address.toString()}`,
  };
}
