import { expect, test } from 'vitest';
import type { Client } from '../store/client.ts';
import type { ClientRecords } from '../store/sql/clients.ts';
import { clientPages, listPage, type ClientPage } from './listing.ts';

/** Returns a store of this many clients, whose ids are in order. It records its calls. */
function storeOf(count: number) {
  const asked: (readonly [string, number])[] = [];
  const all = Array.from(
    { length: count },
    (_, index) => ({ id: String(10_000 + index) }) as Client,
  );
  return {
    all,
    asked,
    clients: {
      async listClientsAfter(id, limit) {
        asked.push([id, limit]);
        return all.filter((client) => client.id > id).slice(0, limit);
      },
    } satisfies Partial<ClientRecords> as unknown as ClientRecords,
  };
}

test('a page has 50 clients by default, and contains the cursor of the next page', async () => {
  const store = storeOf(51);
  expect(await listPage(store.clients, {})).toEqual({
    items: store.all.slice(0, 50),
    next: '10049',
  });
  expect(await listPage(store.clients, { after: '10049' })).toEqual({
    items: store.all.slice(50),
    next: null,
  });
  expect(await listPage(store.clients, { limit: 51 })).toEqual({ items: store.all, next: null });
  expect(await listPage(store.clients, { limit: 1, after: '10000' })).toEqual({
    items: store.all.slice(1, 2),
    next: '10001',
  });
  expect(await listPage(storeOf(0).clients, {})).toEqual({ items: [], next: null });
  expect(store.asked).toEqual([
    ['', 51],
    ['10049', 51],
    ['', 52],
    ['10000', 2],
  ]);
});

test.each<[ClientPage, string]>([
  [{ limit: 0 }, 'The limit must be a whole number from 1 to 1000'],
  [{ limit: 1001 }, 'The limit must be a whole number from 1 to 1000'],
  [{ limit: 1.5 }, 'The limit must be a whole number from 1 to 1000'],
  [{ after: '' }, 'Invalid cursor; use the cursor that the previous page returned'],
  [{ after: 'a\nb' }, 'Invalid cursor; use the cursor that the previous page returned'],
])('a page of %j is refused without a query of the store', async (page, message) => {
  const store = storeOf(1);
  await expect(listPage(store.clients, page)).rejects.toMatchObject({
    name: 'RegistrationError',
    message,
  });
  expect(store.asked).toEqual([]);
  expect((await listPage(store.clients, { limit: 1000 })).items).toHaveLength(1);
});

test('all clients are listed page by page, from the start or after a given client', async () => {
  const store = storeOf(2001);
  const clients = { page: (page: ClientPage) => listPage(store.clients, page) };
  const pagesAfter = async (after?: string) => {
    const pages: number[] = [];
    for await (const { items } of clientPages(clients, after)) pages.push(items.length);
    return pages;
  };
  expect(await pagesAfter()).toEqual([1000, 1000, 1]);
  expect(await pagesAfter('11000')).toEqual([1000]);
  expect(store.asked).toEqual([
    ['', 1001],
    ['10999', 1001],
    ['11999', 1001],
    ['11000', 1001],
  ]);
});
