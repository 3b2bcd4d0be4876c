import type { Access, AuthorizationFilter, HeldAuthorization, PersonReference } from 'portico';

/** The active authorizations that one user gave to one application. */
export interface HeldGroup {
  /** The authorizations, newest first. The list is never empty. */
  readonly authorizations: readonly [HeldAuthorization, ...HeldAuthorization[]];
  /** Whether the user gave this application more authorizations than the list contains. */
  readonly more: boolean;
}

/** One page of a list that has one row for each user and application. */
export interface HeldGroups {
  readonly groups: readonly HeldGroup[];
  /** The cursor for the next page, or null on the last page. */
  readonly next: string | null;
}

/** The maximum number of groups on a page. */
const SHOWN = 50;

/** The maximum number of authorizations that one call of `access.list` returns. */
const MOST_READ = 1000;

/**
 * Returns the next page of groups. The group with the newest authorization comes first, and each
 * group appears on only one page. Reads at most 1,000 authorizations to find the groups of a page.
 * If there are more, or if this is not the first page, also reads the authorizations of each group
 * separately.
 */
export async function heldGroups(
  access: Access,
  filter: AuthorizationFilter,
  after: string | undefined,
): Promise<HeldGroups> {
  const from = after === undefined ? {} : { after };
  const { items, next } = await access.list(filter, { limit: MOST_READ, ...from });
  const all = grouped(items);
  const shown = all.slice(0, SHOWN);
  const last = shown.at(-1);
  const rest = all.length > SHOWN && last !== undefined ? last.authorizations[0].id : next;
  if (after === undefined && next === null) return { groups: shown, next: rest };
  const groups: HeldGroup[] = [];
  for (const { authorizations } of shown) {
    const [{ person, client }] = authorizations;
    const whole = await heldBy(access, { ...filter, person, clientId: client.id });
    // Skip the group if its newest authorization is not older than the cursor, because an earlier
    // page has shown this group.
    if (whole !== null && !(after !== undefined && whole.authorizations[0].id >= after))
      groups.push(whole);
  }
  return { groups, next: rest };
}

/**
 * Returns the newest authorizations that one user gave to one application, or null if there are
 * none.
 */
export async function heldBy(
  access: Access,
  filter: AuthorizationFilter & { readonly person: PersonReference; readonly clientId: string },
): Promise<HeldGroup | null> {
  const { items, next } = await access.list(filter, { limit: MOST_READ });
  const [first, ...others] = items;
  return first === undefined ? null : { authorizations: [first, ...others], more: next !== null };
}

function grouped(items: readonly HeldAuthorization[]): readonly HeldGroup[] {
  const groups = new Map<string, [HeldAuthorization, ...HeldAuthorization[]]>();
  for (const item of items) {
    const key = JSON.stringify([item.person.provider, item.person.id, item.client.id]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups.values()].map((authorizations) => ({ authorizations, more: false }));
}
