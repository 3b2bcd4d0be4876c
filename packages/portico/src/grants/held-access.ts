import { personProblem, type PersonReference } from '../person.ts';
import { AccessError } from '../errors.ts';
import type {
  AuthorizationFilter,
  FoundHeld,
  HeldAuthorization,
} from '../store/authorization-search.ts';
import type { AuthorizationSearch } from '../store/sql/authorization-search.ts';
import { isScopeToken } from '../tokens/scopes.ts';

/** Selects one page of a list. */
export interface AuthorizationPage {
  /** The maximum number of items on the page, from 1 to 1000. Defaults to 50. */
  readonly limit?: number;
  /**
   * The `next` value of the previous page. Without it, the list starts with the newest
   * authorization.
   */
  readonly after?: string;
}

/** One page of a list of authorizations. */
export interface AuthorizationList {
  /**
   * The items, newest first. A page can contain fewer items than `limit`, or none, even if more
   * pages follow. Only `next` shows whether more pages follow.
   */
  readonly items: readonly HeldAuthorization[];
  /** The value to pass as `after` to get the next page. Null on the last page. */
  readonly next: string | null;
}

const DEFAULT_LIMIT = 50;
const MOST_LISTED = 1000;

/**
 * The maximum number of rows to read for one range of ids (see `buildParts`).
 *
 * Some conditions have no index and are checked in each row: a scope, the last use, and the end of
 * the authorization. After this many rows, the page ends even if it is not full (decision 51).
 */
const EXAMINED = 5000;

const A_DAY = 86_400_000;

/** Ids are hexadecimal. Only cursors contain other characters. */
const ID = /^[A-Za-z0-9_-]{1,255}$/;
const CLIENT_ID = /^[\x20-\x7E]{1,255}$/;

/** Ids from `above`, inclusive, to `below`, exclusive. Null means no limit on this side. */
interface Part {
  readonly below: string | null;
  readonly above: string | null;
}

/**
 * Returns one page of the matching active authorizations. Throws an AccessError for malformed
 * input.
 */
export async function listHeld(
  store: AuthorizationSearch,
  asked: AuthorizationFilter,
  { limit = DEFAULT_LIMIT, after }: AuthorizationPage,
  now: number,
): Promise<AuthorizationList> {
  requirePage(limit, after);
  requireFilter(asked, now);
  const filter = inWholeMilliseconds(asked);
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

/** Rounds `unusedSince` up: the stored times are whole numbers. */
function inWholeMilliseconds(filter: AuthorizationFilter): AuthorizationFilter {
  const { unusedSince } = filter;
  return unusedSince === undefined
    ? filter
    : { ...filter, unusedSince: Math.max(0, Math.ceil(unusedSince)) };
}

/**
 * Returns the ranges of ids that can contain matches.
 *
 * Ids start with their creation time. An authorization that is unused since a time is also older
 * than this time, so newer ids can be skipped. Ids from an early release do not start with a time.
 * Nearly all of them sort after today's ids, so the function also searches the ids after today's.
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

/** Returns a string that sorts before all ids from this time or later. */
function idAt(time: number): string {
  return Math.floor(time).toString(16).padStart(12, '0');
}

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

export function isAuthorizationId(text: string): boolean {
  return ID.test(text);
}

/**
 * Returns the person. Throws an AccessError if the provider or id is invalid, for example too long.
 */
export function requirePerson({ provider, id }: PersonReference): PersonReference {
  const problem = personProblem({ provider, id });
  if (problem !== null) throw new AccessError(problem);
  return { provider, id };
}
