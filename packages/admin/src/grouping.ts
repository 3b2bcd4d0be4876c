import type { Access, AuthorizationFilter, HeldAuthorization, PersonReference } from 'portico';
import { MOST_LISTED } from 'portico/extension';

/** Everything that one person has allowed one application. */
export interface HeldGroup {
  /** Newest first; never empty. */
  readonly authorizations: readonly [HeldAuthorization, ...HeldAuthorization[]];
  /** Whether there are more than these. */
  readonly more: boolean;
}

/** A part of a list, with one row for each person and application. */
export interface HeldGroups {
  readonly groups: readonly HeldGroup[];
  /** Where to continue. Null when nothing follows. */
  readonly next: string | null;
}

/** Rows per page. */
const SHOWN = 50;

/**
 * The next groups, sorted by their newest authorization, newest first. Each group is on one page
 * only. A page reads a thousand authorizations. If that is not all of them, it looks up those of
 * each row.
 */
export async function heldGroups(
  access: Access,
  filter: AuthorizationFilter,
  after: string | undefined,
): Promise<HeldGroups> {
  const from = after === undefined ? {} : { after };
  const { items, next } = await access.list(filter, { limit: MOST_LISTED, ...from });
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
    if (whole !== null && !(after !== undefined && whole.authorizations[0].id >= after)) groups.push(whole);
  }
  return { groups, next: rest };
}

/**
 * Everything of one person and application, up to one page of the list. Null if there is nothing.
 */
export async function heldBy(
  access: Access,
  filter: AuthorizationFilter & { readonly person: PersonReference; readonly clientId: string },
): Promise<HeldGroup | null> {
  const { items, next } = await access.list(filter, { limit: MOST_LISTED });
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
