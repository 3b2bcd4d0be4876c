import type { Access, AuthorizationFilter, HeldAuthorization, PersonReference } from 'portico';

/** All authorizations that one person gave to one application. */
export interface HeldGroup {
  /** Newest first; never empty. */
  readonly authorizations: readonly [HeldAuthorization, ...HeldAuthorization[]];
  /** Whether there are more authorizations. */
  readonly more: boolean;
}

/** A part of a list, with one row for each person and application. */
export interface HeldGroups {
  readonly groups: readonly HeldGroup[];
  /** The cursor for the next page. Null on the last page. */
  readonly next: string | null;
}

/** Rows per page. */
const SHOWN = 50;

/** The most authorizations in one page of `access.list`. */
const MOST_READ = 1000;

/**
 * Returns the next groups, sorted by their newest authorization, newest first. Each group appears
 * on only one page. Each page reads 1,000 authorizations. If there are more, it looks up each
 * group's authorizations separately.
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
    // A group with a newer authorization is on an earlier page.
    if (whole !== null && !(after !== undefined && whole.authorizations[0].id >= after))
      groups.push(whole);
  }
  return { groups, next: rest };
}

/**
 * Returns one person's authorizations for one application, at most one page. Returns null if there
 * are none.
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
