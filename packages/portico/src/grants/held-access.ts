import { personProblem, type PersonReference } from '../contracts/person.ts';
import { AccessError } from '../errors.ts';
import type { AuthorizationFilter, FoundHeld, HeldAuthorization } from '../store/authorization-search.ts';
import type { AuthorizationSearch } from '../store/sql/authorization-search.ts';
import { isScopeToken } from '../tokens/scopes.ts';

/** Which part of a list to return. */
export interface AuthorizationPage {
  /** The maximum number of items, 1 to 1000; 50 unless given. */
  readonly limit?: number;
  /** Where to continue: `next` of the previous page. The newest first unless given. */
  readonly after?: string;
}

/** A part of a list. */
export interface AuthorizationList {
  /**
   * Newest first. There may be fewer than requested, or none, and still more to follow: see `next`.
   */
  readonly items: readonly HeldAuthorization[];
  /** Where the next page begins. Null when nothing follows. */
  readonly next: string | null;
}

export const DEFAULT_LIMIT = 50;
/** How many authorizations one page lists at most. */
export const MOST_LISTED = 1000;

/**
 * How many rows one page reads. Conditions without an index (a scope, the last use, what has ended)
 * are checked on so many rows. A page that is not full by then says where to continue. So a page
 * costs the same, whatever it asks for (decision 51).
 */
const EXAMINED = 5000;

const A_DAY = 86_400_000;

/**
 * Authorization ids are hexadecimal. Any other text of these characters can only be a place to
 * continue from.
 */
const ID = /^[A-Za-z0-9_-]{1,255}$/;
const CLIENT_ID = /^[\x20-\x7E]{1,255}$/;

/** Parts of the list, newest first: below one id, and from another one on. */
interface Part {
  readonly below: string | null;
  readonly above: string | null;
}

/** One page of the living authorizations that match. Throws an AccessError for malformed input. */
export async function listHeld(
  store: AuthorizationSearch,
  filter: AuthorizationFilter,
  { limit = DEFAULT_LIMIT, after }: AuthorizationPage,
  now: number,
): Promise<AuthorizationList> {
  requirePage(limit, after);
  requireFilter(filter, now);
  const items: HeldAuthorization[] = [];
  for (const { below, above } of buildParts(filter, after ?? null, now)) {
    if (items.length === limit) return { items, next: items.at(-1)?.id ?? null };
    const range = { below, above, limit: limit - items.length, examine: EXAMINED };
    const found: FoundHeld = await store.findHeld(filter, range, now);
    items.push(...found.items);
    if (found.next !== null) return { items, next: found.next };
  }
  return { items, next: null };
}

/**
 * Anything unused since a time existed before it, and ids begin with the time, so the list can
 * start there. Ids of an early release do not begin with the time. Nearly all of them sort above
 * all ids of today.
 */
function buildParts(
  { unusedSince }: AuthorizationFilter,
  after: string | null,
  now: number,
): readonly Part[] {
  if (unusedSince === undefined) return [{ below: after, above: null }];
  const today = idAt(now + A_DAY);
  const since = idAt(unusedSince);
  const begun = after === null || after > today ? [{ below: after, above: today }] : [];
  return [...begun, { below: after === null || after > since ? since : after, above: null }];
}

/** Sorts before the ids of everything that began at that time. */
function idAt(time: number): string {
  return Math.max(0, Math.floor(time)).toString(16).padStart(12, '0');
}

function requirePage(limit: number, after: string | undefined): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_LISTED) {
    throw new AccessError(`The limit must be a whole number from 1 to ${MOST_LISTED}`);
  }
  if (after !== undefined && !ID.test(after)) {
    throw new AccessError('Invalid cursor; use the one that the previous page returned');
  }
}

function requireFilter({ clientId, person, scope, unusedSince }: AuthorizationFilter, now: number): void {
  if (clientId !== undefined && !CLIENT_ID.test(clientId)) throw new AccessError('That is not a client id');
  if (person !== undefined) requirePerson(person);
  if (scope !== undefined && !isScopeToken(scope))
    throw new AccessError('That is not a valid scope; give one scope');
  if (unusedSince !== undefined && !(unusedSince <= now)) {
    throw new AccessError('unusedSince must be in the past');
  }
}

/** Whether the text can be an authorization id. */
export function isAuthorizationId(text: string): boolean {
  return ID.test(text);
}

/**
 * Returns the person exactly as stored: nothing is trimmed, folded or normalized. Throws an
 * AccessError for an impossible person, so that no engine gets text that it would change.
 */
export function requirePerson({ provider, id }: PersonReference): PersonReference {
  const problem = personProblem({ provider, id });
  if (problem !== null) throw new AccessError(problem);
  return { provider, id };
}
