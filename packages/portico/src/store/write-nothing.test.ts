// @engines sqlite: it tests an embedded database, and what is sent to others
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWatchedStore, type WatchedStore } from '../../../../test/support/watched-store.ts';
import { writeNothing } from './write-nothing.ts';

let watched: WatchedStore;

beforeAll(async () => {
  watched = await openWatchedStore();
});
afterAll(() => watched.close());

test('an embedded database writes a row and removes it, in one transaction', async () => {
  const rows = () => watched.rowsOf('SELECT name FROM portico_migrations ORDER BY name');
  const before = await rows().catch(() => null);
  watched.transactions = 0;
  watched.writes.length = 0;
  await writeNothing(watched.database);
  expect([watched.transactions, watched.writes.map(({ begins }) => begins.slice(0, 11))]).toEqual([
    1,
    ['INSERT INTO', 'DELETE FROM'],
  ]);
  expect(await rows().catch(() => null)).toEqual(before);
  await writeNothing(watched.database);
});

test('another database gets one statement that changes no row', async () => {
  const statements: string[] = [];
  const execute = async (sql: string) => {
    statements.push(sql);
    return { rows: [], affected: 0 };
  };
  await writeNothing({ dialect: 'sqlite', execute });
  const transaction = () => Promise.reject(new Error('It is not called'));
  await writeNothing({ dialect: 'postgres', execute, transaction });
  expect(statements).toEqual(
    Array.from(
      { length: 2 },
      () => "UPDATE oauth_clients SET client_id = client_id WHERE client_id = ''",
    ),
  );
});
