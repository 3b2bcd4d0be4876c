import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { migrationsOf } from '@portico/kit';
import { migrate, openDatabase, type OpenedDatabase } from 'portico';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import portal from '../examples/portal/app.ts';
import { createDatabase } from './support/database.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-sessions-of-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function openEmpty(): Promise<OpenedDatabase> {
  const created = await createDatabase(folder);
  const database = openDatabase(created.url, { directory: folder });
  onTestFinished(async () => {
    await database.close();
    await created.drop();
  });
  return database;
}

/** The migration of the index, and all earlier ones of the kit. */
const INDEX = 'host_0004_sessions_of_person';
const EARLIER = migrationsOf(portal).filter(({ name }) => name.startsWith('host_') && name < INDEX);
const ALL = migrationsOf(portal);

const SESSIONS = `INSERT INTO host_sessions (id_hash, data, secret, user_provider, user_id, created_at, expires_at)
  WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 900)
  SELECT CAST(n AS CHAR(9)), '{}', 'secret', 'accounts', CAST(n AS CHAR(9)), 0, 9 FROM numbers`;
const OF_PERSON = 'FROM host_sessions WHERE user_provider = ? AND user_id = ?';

describe('the sessions of one person', () => {
  test.each(['SELECT DISTINCT secret', 'DELETE'])(
    'are found through an index, also in the database of an earlier release: %s',
    async (start) => {
      const database = await openEmpty();
      await migrate(database, EARLIER);
      await database.execute(SESSIONS);
      expect(await migrate(database, ALL)).toContain(INDEX);
      if (database.dialect === 'postgres') await database.execute('ANALYZE host_sessions');
      const explain = database.dialect === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
      const statement = `${explain} ${start} ${OF_PERSON}`;
      const { rows } = await database.execute(statement, ['accounts', '7']);
      expect(JSON.stringify(rows)).toContain('host_sessions_person');
    },
  );

  test('are found by their secret through an index', async () => {
    const database = await openEmpty();
    await migrate(database, ALL);
    await database.execute(SESSIONS.replace("'secret'", 'CAST(n AS CHAR(9))'));
    if (database.dialect === 'postgres') await database.execute('ANALYZE host_sessions');
    const explain = database.dialect === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
    const { rows } = await database.execute(
      `${explain} SELECT id_hash FROM host_sessions WHERE secret = ?`,
      ['7'],
    );
    expect(JSON.stringify(rows)).toContain('host_sessions_secret');
  });

  test.each(inject('databaseServer')?.startsWith('postgres') === true ? ['PostgreSQL'] : [])(
    'may have the index before the migration on %s, because its creation blocks no writes there',
    async () => {
      const database = await openEmpty();
      await migrate(database, EARLIER);
      await database.execute(
        'CREATE INDEX CONCURRENTLY host_sessions_person ON host_sessions (user_provider, user_id)',
      );
      expect(await migrate(database, ALL)).toContain(INDEX);
    },
  );
});
