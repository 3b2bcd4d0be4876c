import { RegistrationError } from '../errors.ts';
import type { Client } from '../store/client.ts';
import type { ClientRecords } from '../store/sql/clients.ts';

/** The page of the client list to return. */
export interface ClientPage {
  /** The maximum number of clients on the page, 1 to 1000. Defaults to 50. */
  readonly limit?: number;
  /** The value of `next` from the previous page. Defaults to the first page. */
  readonly after?: string;
}

/** One page of the client list. */
export interface ClientList {
  /**
   * The clients, ordered by id and not by registration time. Ordering by id is fast even with a
   * million clients.
   */
  readonly items: readonly Client[];
  /** The value to pass as `after` for the next page. Null on the last page. */
  readonly next: string | null;
}

const DEFAULT_LIMIT = 50;
const MOST_LISTED = 1000;
const CLIENT_ID = /^[\x20-\x7E]{1,255}$/;

/** Throws a RegistrationError if `page` is invalid. */
export async function listPage(
  store: ClientRecords,
  { limit = DEFAULT_LIMIT, after }: ClientPage,
): Promise<ClientList> {
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_LISTED) {
    throw new RegistrationError(`The limit must be a whole number from 1 to ${MOST_LISTED}`);
  }
  if (after !== undefined && !CLIENT_ID.test(after)) {
    throw new RegistrationError('Invalid cursor; use the cursor that the previous page returned');
  }
  const found = await store.listClientsAfter(after ?? '', limit + 1);
  const items = found.slice(0, limit);
  return { items, next: found.length > limit ? (items.at(-1)?.id ?? null) : null };
}

/** Yields all clients after this id, ordered by id. Keeps only one page in memory. */
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
