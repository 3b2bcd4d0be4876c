import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { OpenedDatabase } from './opened.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Migration } from './schema.ts';
import { openDatabase } from './open-database.ts';
import { numberedPlaceholders } from './postgres/connection.ts';
import { migrate, migrationStatus } from './migrations.ts';

let folder: string;
const opened: OpenedDatabase[] = [];

function open(): OpenedDatabase {
  const database = openDatabase('sqlite:data/test.sqlite', { directory: folder });
  opened.push(database);
  return database;
}

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-database-'));
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((database) => database.close()));
  await rm(folder, { recursive: true });
});

describe('the SQLite store', () => {
  // @shows AS-18.5
  test('is durable, with WAL and synchronous=FULL', async () => {
    const database = open();
    expect((await database.execute('PRAGMA journal_mode')).rows).toEqual([{ journal_mode: 'wal' }]);
    expect((await database.execute('PRAGMA synchronous')).rows).toEqual([{ synchronous: 2 }]);
  });

  test('commits a transaction that returns, and rolls back one that throws', async () => {
    const database = open();
    await database.execute('CREATE TABLE t (n INTEGER)');
    expect(
      await database.transaction((on) => on.execute('INSERT INTO t VALUES (?)', [1])),
    ).toMatchObject({
      affected: 1,
    });
    const failing = database.transaction(async (on) => {
      await on.execute('INSERT INTO t VALUES (2)');
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect((await database.execute('SELECT n FROM t')).rows).toEqual([{ n: 1 }]);
  });

  test('loses no update of concurrent transactions in two processes', async () => {
    const [one, other] = [open(), open()];
    await one.execute('CREATE TABLE counter (n INTEGER)');
    await one.execute('INSERT INTO counter VALUES (0)');
    const increment = (database: OpenedDatabase) =>
      database.transaction(async (on) => {
        const { rows } = await on.execute<{ n: number }>('SELECT n FROM counter');
        await on.execute('UPDATE counter SET n = ?', [(rows[0]?.n ?? 0) + 1]);
      });
    // Use the two connections one after the other. They run on the same thread and would block each
    // other.
    await Promise.all(Array.from({ length: 50 }, () => increment(one)));
    await Promise.all(Array.from({ length: 50 }, () => increment(other)));
    expect((await one.execute('SELECT n FROM counter')).rows).toEqual([{ n: 100 }]);
  });

  // @shows AS-18.4
  test('returns 64-bit times as numbers', async () => {
    const { rows } = await open().execute('SELECT 1795240016123 AS at');
    expect(rows).toEqual([{ at: 1_795_240_016_123 }]);
  });

  test('counts as unavailable if it cannot be opened, but not because of a wrong statement', async () => {
    const folderAsFile = openDatabase('sqlite:.', { directory: folder });
    const failure = await folderAsFile.execute('SELECT 1').catch((error: unknown) => error);
    expect(folderAsFile.isUnavailable(failure)).toBe(true);
    const wrong = await open()
      .execute('SELECT nothing')
      .catch((error: unknown) => error);
    expect(wrong).toBeInstanceOf(Error);
    expect(open().isUnavailable(wrong)).toBe(false);
    const busy = Object.assign(new Error('database is locked'), { errcode: 261 });
    expect(open().isUnavailable(new Error('outer', { cause: busy }))).toBe(true);
    const protocol = Object.assign(new Error('locking protocol'), { errcode: 15 });
    expect(open().isUnavailable(protocol)).toBe(true);
    const closed = new Error("Can't add new command when connection is in closed state");
    expect(open().isUnavailable(closed)).toBe(true);
  });

  // @shows HOST-1.4
  test.each(['', 'sqlite:', 'oracle://host/db', 'file.sqlite'])(
    'reports the URL %j as a problem of database_url',
    (url) => {
      expect(() => openDatabase(url, { directory: folder })).toThrow(/^database_url: /);
    },
  );
});

describe('placeholders for PostgreSQL', () => {
  test('are numbered, except inside quotes', () => {
    expect(numberedPlaceholders(`SELECT '?', 'it''s ?', "a?" FROM t WHERE a = ? AND b = ?`)).toBe(
      `SELECT '?', 'it''s ?', "a?" FROM t WHERE a = $1 AND b = $2`,
    );
  });
});

describe('migrations', () => {
  const step = (name: string, ...statements: string[]): Migration => ({
    name,
    async up({ change }) {
      for (const statement of statements) await change(statement);
    },
  });
  const one = step('a_0001', 'CREATE TABLE a (n INTEGER)');
  const two = step('b_0001', 'CREATE TABLE b (n INTEGER)');

  test('apply missing steps once, in the order of their names', async () => {
    const database = open();
    expect(await migrate(database, [two, one])).toEqual(['a_0001', 'b_0001']);
    expect(await migrate(database, [two, one])).toEqual([]);
    expect(
      await migrate(database, [two, step('a_0000', 'CREATE TABLE z (n INTEGER)'), one]),
    ).toEqual(['a_0000']);
  });

  test('are applied completely or not at all', async () => {
    const database = open();
    await expect(migrate(database, [one, step('c', 'CREATE TABLE a (n INTEGER)')])).rejects.toThrow(
      'already exists',
    );
    const states = await migrationStatus(database, [one]);
    expect(states).toEqual([{ name: 'a_0001', appliedAt: null }]);
    expect(await migrate(database, [one])).toEqual(['a_0001']);
  });

  test('are applied once if two processes start them at the same time', async () => {
    const database = open();
    const applied = await Promise.all([
      migrate(database, [one, two]),
      migrate(database, [one, two]),
    ]);
    expect(applied.toSorted((x, y) => y.length - x.length)).toEqual([['a_0001', 'b_0001'], []]);
  });

  test('with the same name are an error', async () => {
    await expect(migrate(open(), [one, one])).rejects.toThrow('Two migrations are named a_0001');
  });
});
