import fs, { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createTimer } from '../../../../test/support/timer.ts';
import { insertIfNone } from '../insert-if-none.ts';
import { openDatabase } from '../open-database.ts';
import type { OpenedDatabase } from '../opened.ts';
import { fromSqlite } from './opening.ts';

/** Returns a list of the files that this process opens from now on, without those of SQLite. */
function watchFiles(): string[] {
  const files: string[] = [];
  const { openSync } = fs;
  vi.spyOn(fs, 'openSync').mockImplementation((...given) => {
    files.push(String(given[0]));
    return openSync(...given);
  });
  syncBuiltinESMExports();
  return files;
}

let folder: string;
const all: { close(): unknown }[] = [];
beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), 'portico-opening-'))));
afterEach(async () => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  for (const each of all.splice(0).toReversed()) await each.close();
  rmSync(folder, { recursive: true });
});

function closing<Opened extends Pick<OpenedDatabase, 'close'>>(opened: Opened): Opened {
  all.push(opened);
  return opened;
}
const caught = (call: () => unknown): unknown => {
  try {
    call();
    return null;
  } catch (error) {
    return error;
  }
};

describe('a database URL', () => {
  test.each([
    ['sqlite:one.sqlite', 'one.sqlite'],
    ['sqlite:data/two.sqlite', 'data/two.sqlite'],
  ])('%s is a file in the folder of the application', async (url, file) => {
    const database = closing(openDatabase(url, { directory: folder }));
    await database.execute('CREATE TABLE t (n INTEGER)');
    expect(statSync(path.join(folder, file)).mode & 0o777).toBe(0o600);
  });

  test('may have an absolute path after one or three slashes', async () => {
    for (const [url, name] of [
      [`sqlite:${folder}/three.sqlite`, 'three.sqlite'],
      [`sqlite://${folder}/four.sqlite`, 'four.sqlite'],
    ] as const) {
      const database = closing(openDatabase(url, { directory: '/' }));
      await database.execute('SELECT 1');
      expect(existsSync(path.join(folder, name))).toBe(true);
    }
  });

  test.each([
    'sqlite:',
    'sqlite://one.sqlite',
    'SQLite:one',
    'xsqlite:one',
    ' sqlite:one',
    'sqlit',
  ])('is refused as %s', (url) => {
    expect(() => openDatabase(url, { directory: folder })).toThrow(
      'database_url: must be sqlite:<file>, postgres://… or mysql://…',
    );
  });

  test('has the engine of its scheme', () => {
    const dialect = (url: string) => openDatabase(url, { directory: '/' }).dialect;
    for (const scheme of ['postgres', 'postgresql'])
      expect(dialect(`${scheme}://user@host/db`)).toBe('postgres');
    for (const scheme of ['mysql', 'mariadb'])
      expect(dialect(`${scheme}://user@host/db`)).toBe('mysql');
    expect(dialect('sqlite:a\nb')).toBe('sqlite');
  });
});

describe('a file of SQLite', () => {
  test('is opened only by SQLite if it exists, because closing it would release its locks', async () => {
    const files = watchFiles();
    const file = path.join(folder, 'one.sqlite');
    for (const count of [1, 1]) {
      const database = closing(openDatabase(`sqlite:${file}`, { directory: '/' }));
      await database.execute('SELECT 1');
      expect(files.filter((each) => each.endsWith('one.sqlite'))).toHaveLength(count);
    }
  });

  test('is not created for a database in memory', async () => {
    rmSync(':memory:', { force: true });
    const files = watchFiles();
    const database = closing(openDatabase('sqlite::memory:', { directory: folder }));
    await database.execute('SELECT 1');
    expect(files).toEqual([]);
    expect(existsSync(':memory:')).toBe(false);
  });
});

describe('a file that cannot be opened', () => {
  test('is named in the error and in its stack, and counts as unavailable', async () => {
    const inside = path.join(folder, 'file', 'inside.sqlite');
    writeFileSync(path.dirname(inside), 'not a database');
    for (const [file, message] of [
      [folder, /^unable to open database file \(.*\)$/],
      [inside, /^unable to open database file: E[A-Z]+: .* \(.*\)$/],
    ] as const) {
      const database = closing(openDatabase(`sqlite:${file}`, { directory: '/' }));
      const failure = await database.execute('SELECT 1').catch((error: unknown) => error);
      expect((failure as Error).message).toMatch(message);
      expect((failure as Error).stack).toContain(`(${file})`);
      expect(database.isUnavailable(failure)).toBe(true);
    }
  });
});

describe('the file of the application', () => {
  function openOwn(name: string) {
    const own = new DatabaseSync(path.join(folder, name));
    all.push(own);
    own.exec('CREATE TABLE t (n INTEGER PRIMARY KEY)');
    return own;
  }
  const setting = async (database: OpenedDatabase, name: string) =>
    Object.values((await database.execute(`PRAGMA ${name}`)).rows[0] ?? {})[0];

  test('keeps its journal mode, and its writes are on disk', async () => {
    const own = openOwn('own.sqlite');
    const database = closing(fromSqlite(own));
    await database.execute('INSERT INTO t VALUES (1)');
    expect(own.prepare('SELECT n FROM t').all()).toEqual([{ n: 1 }]);
    expect(await setting(database, 'journal_mode')).toBe('delete');
    expect(await setting(database, 'synchronous')).toBe(3);
    expect(await setting(database, 'foreign_keys')).toBe(1);
    expect(database).toMatchObject({ dialect: 'sqlite', schema: null });
    expect(database.connections()).toBeNull();
  });

  test('of Portico has WAL and the same care for foreign keys', async () => {
    const database = closing(openDatabase('sqlite:portico.sqlite', { directory: folder }));
    expect(await setting(database, 'journal_mode')).toBe('wal');
    expect(await setting(database, 'synchronous')).toBe(2);
    expect(await setting(database, 'foreign_keys')).toBe(1);
    expect(await setting(database, 'busy_timeout')).toBe(0);
  });

  test('can have several stores, each with its options', async () => {
    const timer = createTimer();
    const first = closing(fromSqlite(openOwn('several.sqlite'), { timer, transactionTimeout: 5 }));
    const second = closing(first.open());
    const third = closing(first.open({ transactionTimeout: 60, transactionIdleTimeout: 60 }));
    const outcomes: string[] = [];
    const gate = Promise.withResolvers<void>();
    const begin = async (store: OpenedDatabase) => {
      const begun = Promise.withResolvers<void>();
      const work = () => {
        begun.resolve();
        return gate.promise;
      };
      const done = store.transaction(work).then(
        () => outcomes.push('done'),
        () => outcomes.push('late'),
      );
      await begun.promise;
      return { done };
    };
    const running = [await begin(first), await begin(second), await begin(third)] as const;
    for (let passed = 0; passed < 4; passed += 1) timer.advance(1000);
    await new Promise((resolve) => setImmediate(resolve));
    expect(outcomes).toEqual([]);
    timer.advance(1000);
    await Promise.all([running[0].done, running[1].done]);
    expect(outcomes).toEqual(['late', 'late']);
    gate.resolve();
    await running[2].done;
    expect(outcomes).toEqual(['late', 'late', 'done']);
  });

  test('may wait in a transaction as long as its option says', async () => {
    const timer = createTimer();
    const own = openOwn('idle.sqlite');
    const database = closing(fromSqlite(own, { timer, transactionIdleTimeout: 3 }));
    const begun = Promise.withResolvers<void>();
    let ended = false;
    const waiting = database.transaction(async (on) => {
      await on.execute('INSERT INTO t VALUES (1)');
      begun.resolve();
      await new Promise(() => {});
    });
    waiting.catch(() => (ended = true));
    await begun.promise;
    for (const passed of [1500, 1499]) timer.advance(passed);
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended).toBe(false);
    timer.advance(1);
    await expect(waiting).rejects.toMatchObject({ reason: 'idle' });
  });

  test('has no schema, is not in memory, and is opened with node:sqlite', () => {
    const own = openOwn('refused.sqlite');
    expect(() => fromSqlite(own, { schema: 'app' })).toThrow('database_schema: is only for');
    const memory = new DatabaseSync(':memory:');
    all.push(memory);
    expect(caught(() => fromSqlite(memory))).toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringMatching(/^database: is in memory, so only the connection/) as string,
    });
    const other = { prepare: own.prepare.bind(own) };
    expect(caught(() => fromSqlite(other as unknown as DatabaseSync))).toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringMatching(/^database: is not a DatabaseSync of node:sqlite/) as string,
    });
  });

  test('is that of the main database, and not of an attached one', async () => {
    const own = new DatabaseSync(':memory:');
    all.push(own);
    own.exec(`ATTACH '${path.join(folder, 'attached.sqlite')}' AS other`);
    expect(() => fromSqlite(own)).toThrow('is in memory');
    const file = openOwn('main.sqlite');
    file.exec(`ATTACH '${path.join(folder, 'attached.sqlite')}' AS other`);
    const database = closing(fromSqlite(file));
    expect((await database.execute('SELECT n FROM t')).rows).toEqual([]);
  });
});

test('a row is inserted only if there is none with its key', async () => {
  const database = closing(openDatabase('sqlite::memory:', { directory: '/' }));
  await database.execute('CREATE TABLE seen (id INTEGER PRIMARY KEY, n INTEGER)');
  const insert = (id: number, n: number) =>
    insertIfNone(database, 'seen (id, n) VALUES (?, ?)', '(id)', [id, n]);
  expect([await insert(1, 10), await insert(1, 20), await insert(2, 30)]).toEqual([
    true,
    false,
    true,
  ]);
  expect((await database.execute('SELECT n FROM seen ORDER BY id')).rows).toEqual([
    { n: 10 },
    { n: 30 },
  ]);
});
