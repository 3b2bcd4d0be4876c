import { migrate, type OpenedDatabase } from '@portico/sql';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openWatchedStore, type WatchedStore } from './support/watched-store.ts';
import {
  FurtherMetadataRecords,
  furtherMetadataMigrations,
} from '../packages/portico/src/store/sql/further-metadata.ts';

let watched: WatchedStore;
let database: OpenedDatabase;

beforeAll(async () => {
  watched = await openWatchedStore();
  ({ database } = watched);
  await migrate(database, furtherMetadataMigrations);
});
afterAll(() => watched.close());
beforeEach(() => watched.emptied('oauth_clients', 'oauth_client_metadata'));

const register = (id: string) =>
  watched.insert('oauth_clients', {
    client_id: id,
    name: id,
    redirect_uris: '[]',
    scope: '',
    grants: 'authorization_code',
    is_public: 1,
    created_at: 0,
  });
const describeClient = (id: string) =>
  watched.insert('oauth_client_metadata', { client_id: id, metadata: '{}' });
const left = async () =>
  (
    await watched.rowsOf<{ client_id: string }>(
      'SELECT client_id FROM oauth_client_metadata ORDER BY client_id',
    )
  ).map((row) => row.client_id);

describe('the metadata of clients that no longer exist', () => {
  test('is removed batch by batch, and each batch reads a limited number of rows', async () => {
    for (const id of ['a', 'b', 'd', 'e', 'f']) {
      await register(id);
      await describeClient(id);
    }
    await describeClient('c');
    await describeClient('g');
    const records = new FurtherMetadataRecords(database);
    const remove = (after: string) => records.removeLeft(3, after);
    expect(await remove('')).toEqual({ count: 1, more: true, last: 'c' });
    expect(await left()).toEqual(['a', 'b', 'd', 'e', 'f', 'g']);
    expect(await remove('c')).toEqual({ count: 0, more: true, last: 'f' });
    expect(await remove('f')).toEqual({ count: 1, more: false, last: null });
    expect(await left()).toEqual(['a', 'b', 'd', 'e', 'f']);
  });

  test('stays if the client is registered again at that moment', async () => {
    await describeClient('back');
    await describeClient('gone');
    const meanwhile = {
      ...database,
      transaction: async (...all: Parameters<OpenedDatabase['transaction']>) => {
        await register('back');
        return database.transaction(...all);
      },
    } as OpenedDatabase;
    const records = new FurtherMetadataRecords(meanwhile);
    expect(await records.removeLeft(10, '')).toEqual({ count: 1, more: false, last: null });
    expect(await left()).toEqual(['back']);
  });

  test('is found without reading the clients before it, on PostgreSQL', async () => {
    if (database.dialect !== 'postgres') return;
    const COUNT = 20_000;
    await database.execute(`INSERT INTO oauth_clients
      (client_id, name, redirect_uris, scope, grants, is_public, created_at)
      SELECT LPAD(TO_HEX(n), 32, '0'), '', '[]', '', '', 1, 0 FROM GENERATE_SERIES(1, ${COUNT}) n`);
    await database.execute(`INSERT INTO oauth_client_metadata (client_id, metadata)
      SELECT client_id, '{}' FROM oauth_clients`);
    await database.execute('ANALYZE oauth_clients, oauth_client_metadata');
    watched.reads.length = 0;
    await new FurtherMetadataRecords(database).removeLeft(100, '');
    const [asked = ''] = watched.reads;
    const after = (COUNT - 200).toString(16).padStart(32, '0');
    const { rows } = await database.execute<Record<string, string>>(
      `EXPLAIN (ANALYZE) ${asked.replace('?', `'${after}'`)}`,
    );
    const plan = rows.map((row) => Object.values(row).join()).join('\n');
    // Each step of the plan reads at most one row for each row of the batch.
    const read = [...plan.matchAll(/actual time=\S+ rows=(\d+)/g)].map(([, count]) =>
      Number(count),
    );
    expect(read.length).toBeGreaterThan(1);
    expect(Math.max(...read), plan).toBe(100);
  });
});
