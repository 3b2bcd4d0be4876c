import type { Access, AuthorizationFilter, HeldAuthorization, PersonReference } from 'portico';

/** All authorizations that one user gave to one application. */
export interface HeldGroup {
  /** The authorizations, newest first. The list is never empty. */
  readonly authorizations: readonly [HeldAuthorization, ...HeldAuthorization[]];
  /** Whether the group has more authorizations than `authorizations` contains. */
  readonly more: boolean;
}

/** One page of a list with one row for each user and application. */
export interface HeldGroups {
  readonly groups: readonly HeldGroup[];
  /** The cursor of the next page. It is null on the last page. */
  readonly next: string | null;
}

/** The number of groups on a page. */
const SHOWN = 50;

/** The maximum number of authorizations that one call of `access.list` returns. */
const MOST_READ = 1000;

/**
 * Returns the next groups, ordered by their newest authorization (newest first). Each group appears
 * on only one page. Reads at most 1,000 authorizations from the list per page. If the list has more
 * authorizations, looks up the authorizations of each group separately.
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
    // Skip a group with a newer authorization, because the group is on an earlier page.
    if (whole !== null && !(after !== undefined && whole.authorizations[0].id >= after))
      groups.push(whole);
  }
  return { groups, next: rest };
}

/**
 * Returns one page of the authorizations that one user gave to one application. Returns null if
 * there are none.
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
