import type { UserInterface } from '../contracts/person.ts';
import type { MessageKey } from '../words/english.ts';
import type { Words } from '../words/words.ts';
import { isVerified } from '../clients/who-asks.ts';
import type { Client } from '../store/client.ts';
import { SCOPE_GROUPS, type ScopeGroup } from '../tokens/scope-groups.ts';
import { scopeDescription, scopeLabel, type ScopeCatalog } from '../tokens/scopes.ts';

/** A scope as the pages show it. */
export interface ShownScope {
  /** As clients ask for it. */
  readonly name: string;
  /** What it allows. */
  readonly label: string;
  /** A longer explanation; null for none. */
  readonly description: string | null;
}

/** Scopes of one group. */
export interface ShownScopeGroup {
  /** Who the person is, what is read, or what is changed. */
  readonly group: ScopeGroup;
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
  { t }: Pick<Words, 't'>,
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

const TITLES: Readonly<Record<ScopeGroup, MessageKey>> = {
  identity: 'scopes.identity',
  read: 'scopes.read',
  change: 'scopes.change',
};

/** The same by group, without empty groups. */
export function shownGroups(
  names: readonly string[],
  catalog: ScopeCatalog,
  words: Pick<Words, 't'>,
): readonly ShownScopeGroup[] {
  return SCOPE_GROUPS.map((group) => ({
    group,
    title: words.t(TITLES[group]),
    scopes: shownScopes(
      names.filter((name) => (catalog.get(name)?.group ?? 'change') === group),
      catalog,
      words,
    ),
  })).filter(({ scopes }) => scopes.length > 0);
}

/** The look of a client that an operator registered. Nothing of it comes from strangers. */
export interface ShownLook {
  /** Its web site, with the host in ASCII; null for none. */
  readonly site: { readonly href: string; readonly host: string } | null;
  /** The path of its logo; null for none, and if `oauth_server:client_logos` is off. */
  readonly logo: string | null;
}

/** `logoPath` is the path of logos; null if there are none. */
export function shownLook(
  client: Pick<Client, 'id' | 'registeredBy' | 'siteUri' | 'logoHash'>,
  logoPath: string | null,
): ShownLook {
  if (!isVerified(client)) return { site: null, logo: null };
  const { id, siteUri, logoHash } = client;
  const address = new URLSearchParams({ client_id: id, v: logoHash ?? '' });
  return {
    site: siteUri === undefined ? null : { href: siteUri, host: new URL(siteUri).host },
    logo: logoPath === null || logoHash === undefined ? null : `${logoPath}?${address.toString()}`,
  };
}
