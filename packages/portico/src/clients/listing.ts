import { RegistrationError } from '../errors.ts';
import type { Client } from '../store/client.ts';
import type { ClientRecords } from '../store/sql/clients.ts';

/** Which page of the clients to return. */
export interface ClientPage {
  /** At most this many, 1 to 1000. The default is 50. */
  readonly limit?: number;
  /** Where to continue: `next` of the previous page. By default, the beginning. */
  readonly after?: string;
}

/** A part of the clients. */
export interface ClientList {
  /**
   * In the order of their ids, not of registration: only this order costs the same with a million
   * clients.
   */
  readonly items: readonly Client[];
  /** Where the next page begins; null when nothing follows. */
  readonly next: string | null;
}

const DEFAULT_LIMIT = 50;
const MOST_LISTED = 1000;
const CLIENT_ID = /^[\x20-\x7E]{1,255}$/;

/** One page. Throws a RegistrationError for malformed input. */
export async function listPage(
  store: ClientRecords,
  { limit = DEFAULT_LIMIT, after }: ClientPage,
): Promise<ClientList> {
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_LISTED) {
    throw new RegistrationError(`The limit must be a whole number from 1 to ${MOST_LISTED}`);
  }
  if (after !== undefined && !CLIENT_ID.test(after)) {
    throw new RegistrationError('Invalid cursor; use the one that the previous page returned');
  }
  const found = await store.listClientsAfter(after ?? '', limit + 1);
  const items = found.slice(0, limit);
  return { items, next: found.length > limit ? (items.at(-1)?.id ?? null) : null };
}

/**
 * All clients after this one, in the order of their ids, a page at a time. No more than one page is
 * in memory at once.
 */
export async function* clientPages(
  clients: { page(page: ClientPage): Promise<ClientList> },
  after?: string,
): AsyncGenerator<ClientList, void> {
  for (let next: string | null | undefined = after; next !== null;) {
    const page: ClientList = await clients.page({
      limit: MOST_LISTED,
      ...(next === undefined ? {} : { after: next }),
    });
    yield page;
    ({ next } = page);
  }
}
