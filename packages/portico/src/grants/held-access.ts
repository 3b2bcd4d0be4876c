import { personProblem, type PersonReference } from '../person.ts';
import { AccessError } from '../errors.ts';
import type {
  AuthorizationFilter,
  FoundHeld,
  HeldAuthorization,
} from '../store/authorization-search.ts';
import type { AuthorizationSearch } from '../store/sql/authorization-search.ts';
import { isScopeToken } from '../tokens/scopes.ts';

/** Which page of a list to return. */
export interface AuthorizationPage {
  /** The maximum number of items, 1 to 1000. Defaults to 50. */
  readonly limit?: number;
  /**
   * The `next` of the previous page. Defaults to the first page, which starts with the newest
   * authorization.
   */
  readonly after?: string;
}

/** One page of a list. */
export interface AuthorizationList {
  /**
   * The items, newest first. A page can contain fewer items than `limit`, or none, even if more
   * pages follow. To find out whether more pages follow, read `next`.
   */
  readonly items: readonly HeldAuthorization[];
  /** Pass this as `after` to get the next page. Null on the last page. */
  readonly next: string | null;
}

const DEFAULT_LIMIT = 50;
/** The maximum number of authorizations on one page. */
const MOST_LISTED = 1000;

/**
 * The maximum number of rows that are read for one page. Some conditions have no index and are
 * checked row by row: a scope, the last use, and whether the authorization has ended. After this
 * many rows, the page ends even if it is not full. This limits the time for a page with every
 * filter (decision 51).
 */
const EXAMINED = 5000;

const A_DAY = 86_400_000;

/**
 * Matches ids and cursors. Ids of authorizations are hexadecimal, so other characters occur only in
 * cursors.
 */
const ID = /^[A-Za-z0-9_-]{1,255}$/;
const CLIENT_ID = /^[\x20-\x7E]{1,255}$/;

/** A range of ids: `above` and higher, but lower than `below`. Null means no limit. */
interface Part {
  readonly below: string | null;
  readonly above: string | null;
}

/**
 * Returns one page of the active authorizations that match. Throws an AccessError for malformed
 * input.
 */
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
 * Returns the ranges of ids that can contain matches. An authorization that was not used since a
 * certain time is older than that time. Ids start with the time of their creation, so newer ids can
 * be skipped. Ids of an early release do not start with a time, and nearly all of them are higher
 * than today's ids. So the ids above today's are searched too.
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

/** Returns a string that sorts before all ids created at this time or later. */
function idAt(time: number): string {
  return Math.max(0, Math.floor(time)).toString(16).padStart(12, '0');
}

/** Throws an AccessError if the limit or the cursor is not valid. */
export function requirePage(limit: number, after: string | undefined): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_LISTED) {
    throw new AccessError(`The limit must be a whole number from 1 to ${MOST_LISTED}`);
  }
  if (after !== undefined && !ID.test(after)) {
    throw new AccessError('Invalid cursor; use the cursor that the previous page returned');
  }
}

function requireFilter(
  { clientId, person, scope, unusedSince }: AuthorizationFilter,
  now: number,
): void {
  if (clientId !== undefined && !CLIENT_ID.test(clientId))
    throw new AccessError('The client id is not valid');
  if (person !== undefined) requirePerson(person);
  if (scope !== undefined && !isScopeToken(scope))
    throw new AccessError('The scope is not valid; enter exactly one scope');
  if (unusedSince !== undefined && !(unusedSince <= now)) {
    throw new AccessError('unusedSince must be in the past');
  }
}

/** Whether the string can be an authorization id. */
export function isAuthorizationId(text: string): boolean {
  return ID.test(text);
}

/**
 * Returns the person unchanged. Throws an AccessError if the provider or id is not valid, for
 * example because a database engine would trim or change it.
 */
export function requirePerson({ provider, id }: PersonReference): PersonReference {
  const problem = personProblem({ provider, id });
  if (problem !== null) throw new AccessError(problem);
  return { provider, id };
}
