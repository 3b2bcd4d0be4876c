// @engines sqlite: it tests the doctor with database files
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  migrationStatus,
  openDatabase,
  type OpenedDatabase,
  examine,
  oauthServerMigrations,
  type Check,
  type ExaminedApplication,
} from 'portico';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openOwnStore } from './support/own-store.ts';
import { startPortal, type RunningPortal } from './support/portal.ts';

let portal: RunningPortal;
beforeAll(async () => {
  portal = await startPortal();
});
afterAll(() => portal.close());

async function findings(
  database: ExaminedApplication['database'],
  part: string,
): Promise<readonly Check[]> {
  const migrations = () => migrationStatus(portal.application.database, oauthServerMigrations);
  const { checks } = await examine({ database, migrations }, portal.server);
  return checks.filter((each) => each.part === part);
}

function opened(url: string): OpenedDatabase {
  const database = openDatabase(url, { directory: '/' });
  onTestFinished(() => database.close());
  return database;
}

// @shows AS-13.17
test('the doctor accepts the default SQLite file, and prints its path', async () => {
  const { database } = portal.application;
  expect(await findings(database, 'durability')).toMatchObject([
    { outcome: 'ok', detail: expect.stringContaining('journal_mode wal') },
  ]);
  const file = (portal.env['DATABASE_URL'] ?? '').replace('sqlite:', '');
  expect(await findings(database, 'database file')).toMatchObject([
    {
      outcome: 'ok',
      detail: expect.stringContaining(`${path.basename(file)} is on `),
      remedy: null,
    },
  ]);
});

// @shows AS-13.17
test('the doctor reports SQLite settings with weaker durability', async () => {
  const store = openOwnStore(portal.env['DATABASE_URL'] ?? '');
  onTestFinished(() => store.close());
  await store.execute('PRAGMA synchronous = NORMAL');
  expect(await findings(store, 'durability')).toMatchObject([
    { outcome: 'warning', detail: expect.stringMatching(/^synchronous is 1/) },
  ]);
});

async function openNewFile() {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-journal-'));
  const store = openOwnStore(`sqlite:${path.join(folder, 'own.sqlite')}`);
  onTestFinished(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });
  return store;
}

// @shows AS-13.17
test('the doctor reports a SQLite file without WAL, where a crash can undo a confirmed commit', async () => {
  const store = await openNewFile();
  await store.execute('PRAGMA synchronous = FULL');
  expect(await findings(store, 'durability')).toMatchObject([
    { outcome: 'warning', remedy: 'set PRAGMA synchronous = EXTRA' },
  ]);
  await store.execute('PRAGMA synchronous = EXTRA');
  expect(await findings(store, 'durability')).toMatchObject([{ outcome: 'ok' }]);
});

// @shows AS-13.17
test('the doctor reports a SQLite file whose journal is in memory', async () => {
  const store = await openNewFile();
  await store.execute('PRAGMA journal_mode = MEMORY');
  expect(await findings(store, 'durability')).toMatchObject([
    { outcome: 'warning', detail: expect.stringMatching(/^journal_mode is memory:/) as string },
  ]);
});

test('the doctor reports a SQLite database in memory', async () => {
  expect(await findings(opened('sqlite::memory:'), 'database file')).toMatchObject([
    { outcome: 'ok', detail: expect.stringContaining('all data is lost when the process ends') },
  ]);
});

// @shows AS-13.2
test('the doctor reports a missing schema without writing to the database', async () => {
  const empty = opened('sqlite::memory:');
  const migrations = () => migrationStatus(empty, oauthServerMigrations);
  const { checks, healthy } = await examine({ database: empty, migrations }, portal.server);
  const of = (name: string) => checks.filter(({ part }) => part === name);
  expect(healthy).toBe(false);
  expect(of('store')).toMatchObject([{ outcome: 'ok', detail: 'sqlite answers', remedy: null }]);
  expect(of('schema')).toMatchObject([
    {
      outcome: 'failing',
      detail: expect.stringMatching(
        /^these database migrations are not applied: oauth_server_/,
      ) as string,
      remedy: 'run npx portico db:migrate up',
    },
  ]);
  const { rows } = await empty.execute("SELECT name FROM sqlite_master WHERE type = 'table'");
  expect(rows).toEqual([]);
});
