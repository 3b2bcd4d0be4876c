// @engines clusters: it connects through PgBouncer, which changes the session
import pg from 'pg';
import { openDatabase, type OpenedDatabase } from 'portico';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { POSTGRES, type DatabaseServer } from '../support/engines/database-server.ts';
import { codeBlocks } from '../support/documents.ts';
import { startPgBouncer, type PgBouncer } from '../support/engines/pgbouncer.ts';

let server: DatabaseServer;
let bouncer: PgBouncer;
let url: string;

beforeAll(async () => {
  server = await POSTGRES.start();
  bouncer = await startPgBouncer(Number(new URL(server.url).port));
  url = `postgres://postgres@127.0.0.1:${bouncer.port}/postgres`;
});
afterAll(async () => {
  await bouncer.close();
  await server.close();
});

function open(): OpenedDatabase {
  const database = openDatabase(url, {
    directory: '/',
    statementTimeout: 7,
    transactionIdleTimeout: 60,
    schema: 'rooms',
  });
  onTestFinished(() => database.close());
  return database;
}

const NAMES = ['statement_timeout', 'idle_in_transaction_session_timeout', 'search_path'] as const;
const SETTINGS = `SELECT ${NAMES.map((name) => `current_setting('${name}') AS ${name}`).join(', ')}`;
const settingsOf = async (on: Pick<OpenedDatabase, 'execute'>) =>
  (await on.execute(SETTINGS)).rows[0];

/** The settings of PgBouncer's sessions, each of which serves one transaction at a time. */
async function sessions(): Promise<readonly unknown[]> {
  const clients = Array.from({ length: 6 }, () => new pg.Client({ connectionString: url }));
  await Promise.all(clients.map((client) => client.connect()));
  await Promise.all(clients.map((client) => client.query('BEGIN')));
  const found = await Promise.all(
    clients.map((client) => client.query<Record<string, string>>(SETTINGS)),
  );
  await Promise.all(clients.map((client) => client.query('COMMIT').then(() => client.end())));
  return found.map(({ rows }) => rows[0]);
}

// @shows AS-18.21
test('each transaction through a pooler sets its limits, and leaves no session setting', async () => {
  const before = await sessions();
  const database = open();
  await database.transaction((on) => on.execute('CREATE SCHEMA IF NOT EXISTS rooms'));
  const limited = {
    statement_timeout: '7s',
    idle_in_transaction_session_timeout: '67s',
    search_path: 'rooms',
  };
  const all = Promise.withResolvers<void>();
  let begun = 0;
  const told = await Promise.all(
    Array.from({ length: 6 }, () =>
      database.transaction(async (on) => {
        const settings = await settingsOf(on);
        begun += 1;
        if (begun === 6) all.resolve();
        await all.promise;
        return settings;
      }),
    ),
  );
  expect(told).toEqual(Array.from({ length: 6 }, () => limited));
  expect(await database.withoutTimeout().transaction(settingsOf)).toMatchObject({
    statement_timeout: '0',
    idle_in_transaction_session_timeout: '0',
  });
  expect(await settingsOf(database)).toMatchObject({ statement_timeout: '0' });
  expect(await sessions()).toEqual(before);
});

// @shows AS-18.21
test('a lower limit of the database also applies to transactions through a pooler', async () => {
  const administrator = openDatabase(server.url, { directory: '/' });
  onTestFinished(() => administrator.close());
  await administrator.execute('CREATE DATABASE hurried');
  await administrator.execute("ALTER DATABASE hurried SET statement_timeout = '3s'");
  const hurried = new URL('/hurried', url).href;
  const database = openDatabase(hurried, { directory: '/', statementTimeout: 7 });
  onTestFinished(() => database.close());
  expect(await database.transaction(settingsOf)).toMatchObject({
    statement_timeout: '3s',
    idle_in_transaction_session_timeout: '9s',
  });
});

// @shows AS-18.21
test('the server ends a slow statement in a transaction through a pooler', async () => {
  const database = openDatabase(url, { directory: '/', statementTimeout: 1 });
  onTestFinished(() => database.close());
  const sleeping = database.transaction((on) => on.execute('SELECT pg_sleep(60)'));
  await expect(sleeping).rejects.toMatchObject({ code: '57014' });
});

test('the SQL in docs/databases/connections.md sets the limits of an account behind a pooler', async () => {
  const administrator = openDatabase(server.url, { directory: '/' });
  onTestFinished(() => administrator.close());
  await administrator.execute('CREATE ROLE portico LOGIN');
  const blocks = codeBlocks().filter(
    ({ page, info }) => page === 'docs/databases/connections.md' && info[0] === 'sql',
  );
  const statements = blocks.flatMap(({ code }) => code.trim().split('\n'));
  for (const statement of statements) await administrator.execute(statement);
  const ofAccount = new URL(server.url);
  ofAccount.username = 'portico';
  const client = new pg.Client({ connectionString: ofAccount.href });
  await client.connect();
  onTestFinished(() => client.end());
  expect((await client.query(SETTINGS)).rows).toEqual([
    expect.objectContaining({
      statement_timeout: '10s',
      idle_in_transaction_session_timeout: '12s',
    }),
  ]);
});
