import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { migrationsOf, startApplication } from '@portico/kit';
import { migrate, openDatabase, type ConfigMap, type StartOptions, examine } from 'portico';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { openApplicationPool } from './support/application-pool.ts';
import { createDatabase, type TestDatabase } from './support/database.ts';
import {
  ADA,
  callApi,
  obtainTokens,
  refresh,
  registerClient,
  startPortal,
} from './support/portal.ts';

/**
 * The keys for the store: the PostgreSQL schema, the pool size and the lifetime of the connections.
 */
let folder: string;
let store: TestDatabase;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'portico-schema-'));
  store = await createDatabase(folder);
});
afterAll(async () => {
  await store.drop();
  rmSync(folder, { recursive: true });
});

const isPostgres = inject('databaseServer')?.startsWith('postgres') === true;
/** Declare the tests only for the matching engines, because a skipped test counts as failed. */
const WITH_SCHEMAS = isPostgres ? ['a pool of our own', "the application's own pool"] : [];
const WITHOUT = isPostgres ? [] : ['database_schema'];

const ON_SERVERS =
  inject('databaseServer') === undefined ? [] : [isPostgres ? 'PostgreSQL' : 'MariaDB'];

const startingWith = (config: ConfigMap, options: StartOptions = {}) =>
  startApplication(
    { directory: folder, config: { public_url: 'https://app.example', ...config } },
    { env: { DATABASE_URL: store.url }, ...options },
  );
const starting = (schema: unknown) => startingWith({ database_schema: schema });

describe('database_schema', () => {
  // @shows HOST-1.9
  test.each(WITHOUT)(
    '%s is refused if the engine has no schemas, and the error says what to do instead',
    async () => {
      await expect(starting('portico')).rejects.toThrow(
        /^database_schema: is only for PostgreSQL; \w+ has no schemas, so use a separate database for Portico$/,
      );
    },
  );

  // @shows HOST-1.9
  test.each(['pg_portico', 'a"; DROP', 'a.b', 'x'.repeat(64), 7])(
    'is refused if it is not a valid name: %j',
    async (name) => {
      await expect(starting(name)).rejects.toThrow(/^database_schema: must be/);
    },
  );

  // @shows HOST-1.9, AS-18.19
  test.each(WITH_SCHEMAS)(
    'holds all tables of Portico, and no session setting changes, on %s',
    async (kind) => {
      const created = await createDatabase(folder);
      onTestFinished(() => created.drop());
      const application = openApplicationPool(created.url, 2);
      onTestFinished(() => application.end());
      await application.ask('CREATE TABLE oauth_clients (name TEXT)');
      await application.ask('CREATE TABLE portico_migrations (name TEXT)');
      const before = await application.session();
      const borrows = kind === WITH_SCHEMAS[1];
      const portal = await startPortal({
        config: { database_schema: 'Own_Rooms' },
        ...(borrows ? { database: application.borrow() } : { databaseUrl: created.url }),
      });
      onTestFinished(() => portal.close());
      const client = await registerClient(portal);
      const tokens = await obtainTokens(portal, client, ADA);
      expect((await callApi(portal, '/oauth/userinfo', tokens.access_token)).status).toBe(200);
      expect((await refresh(portal, client, tokens.refresh_token)).status).toBe(200);
      await portal.server.prune();
      const report = await examine(portal.application, portal.server);
      expect(report.checks.find(({ part }) => part === 'store')).toMatchObject({
        outcome: 'ok',
        detail: 'postgres answers, in the schema Own_Rooms and accepts writes',
      });
      expect(report.checks.find(({ part }) => part === 'schema')).toMatchObject({ outcome: 'ok' });
      const own = openDatabase(created.url, { directory: '/' });
      onTestFinished(() => own.close());
      const { rows } = await own.execute<{ schema: string; tables: number }>(
        `SELECT table_schema AS schema, COUNT(*) AS tables FROM information_schema.tables
      WHERE table_schema NOT IN ('pg_catalog', 'information_schema') GROUP BY table_schema ORDER BY 1`,
      );
      const steps = await own.execute<{ n: number }>(
        'SELECT COUNT(*) AS n FROM "Own_Rooms".portico_migrations',
      );
      expect(rows).toEqual([
        { schema: 'Own_Rooms', tables: expect.any(Number) },
        { schema: 'public', tables: 2 },
      ]);
      expect(steps.rows).toEqual([{ n: migrationsOf(portal.definition).length }]);
      expect((await own.execute('SELECT name FROM oauth_clients')).rows).toEqual([]);
      expect(await application.session()).toEqual(before);
    },
  );

  test.each(WITH_SCHEMAS.slice(0, 1))(
    'is used for a failing statement and its retry, on %s',
    async () => {
      const own = openDatabase(store.url, { directory: '/', schema: 'rooms' });
      onTestFinished(() => own.close());
      const step = {
        name: 'app_0001',
        up: async ({ change }: { readonly change: (sql: string) => Promise<void> }) =>
          change('CREATE TABLE things (id INTEGER PRIMARY KEY)'),
      };
      await migrate(own, [step]);
      const insert = (id: number) => own.execute('INSERT INTO things (id) VALUES (?)', [id]);
      await expect(own.execute('SELECT id FROM missing')).rejects.toThrow(/missing/);
      await own.execute('CREATE TABLE missing (id INTEGER)');
      expect((await own.execute('SELECT id FROM missing')).rows).toEqual([]);
      await insert(1);
      await expect(insert(1)).rejects.toThrow(/duplicate/);
      expect((await insert(2)).affected).toBe(1);
      expect((await own.execute('SELECT id FROM things ORDER BY id')).rows).toEqual([
        { id: 1 },
        { id: 2 },
      ]);
    },
  );
});

describe('connections to a database server', () => {
  const identity = isPostgres ? 'pg_backend_pid()' : 'CONNECTION_ID()';

  // @shows HOST-1.10
  test.each(ON_SERVERS)('are limited to database_pool_size, on %s', async () => {
    const application = await startingWith({ database_pool_size: 2 });
    onTestFinished(() => application.close());
    const used = await Promise.all(
      Array.from({ length: 12 }, () =>
        application.database.transaction(async (on) => {
          const { rows } = await on.execute<{ id: number }>(`SELECT ${identity} AS id`);
          await new Promise((resolve) => setImmediate(resolve));
          return rows[0]?.id;
        }),
      ),
    );
    expect(new Set(used).size).toBe(2);
  });

  // @shows HOST-1.11
  test.each(ON_SERVERS)('are closed after database_connection_lifetime, on %s', async () => {
    let now = 0;
    const timer = { now: () => now, after: () => () => {} };
    const application = await startingWith({ database_connection_lifetime: 20 }, { timer });
    onTestFinished(() => application.close());
    const ask = async () =>
      (await application.database.execute<{ id: number }>(`SELECT ${identity} AS id`)).rows[0]?.id;
    const first = await ask();
    now = 17_999;
    expect(await ask()).toBe(first);
    now = 20_001;
    expect(await ask()).not.toBe(first);
  });

  // @shows HOST-1.12
  test.each(ON_SERVERS)('end a statement after database_statement_timeout, on %s', async () => {
    const application = await startingWith({ database_statement_timeout: 1 });
    onTestFinished(() => application.close());
    const { database } = application;
    const failure: unknown = await database
      .execute(isPostgres ? 'SELECT pg_sleep(60)' : 'SELECT SLEEP(60)')
      .catch((error: unknown) => error);
    expect(failure).toMatchObject(isPostgres ? { code: '57014' } : { errno: 1969 });
    expect(database.isUnavailable(failure)).toBe(true);
  });

  test.each([
    // @shows HOST-1.10
    ['database_pool_size', 0, 'must be at least 1'],
    ['database_pool_size', '10', 'must be a whole number of connections'],
    // @shows HOST-1.11
    ['database_connection_lifetime', 0, 'must be at least 1 second'],
    // @shows HOST-1.12
    ['database_statement_timeout', 0, 'must be at least 1 second'],
    ['database_statement_timeout', '10s', 'must be a whole number of seconds'],
    ['database_statement_timeout', 3601, 'must be at most 3600 seconds'],
  ])('are refused with the invalid setting %s: %j', async (key, value, message) => {
    await expect(startingWith({ [key]: value })).rejects.toThrow(`${key}: ${message}`);
  });
});
