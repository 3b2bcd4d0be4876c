import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readsTogether, runTogether } from '../together.ts';
import { openSqlite } from './engine.ts';
import { Statements } from './statements.ts';

let folder: string;
let files = 0;
beforeAll(() => void (folder = mkdtempSync(path.join(tmpdir(), 'portico-engine-'))));
afterAll(() => rmSync(folder, { recursive: true }));
const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
});

const newFile = () => path.join(folder, `${(files += 1)}.sqlite`);
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Opens an engine on a file with a table, and a connection of the application to the file. */
async function open() {
  const file = newFile();
  const engine = openSqlite(file);
  opened.push(engine);
  await engine.execute('CREATE TABLE t (n INTEGER PRIMARY KEY)', []);
  const own = new DatabaseSync(file, { timeout: 0 });
  opened.push(own);
  const all = async () => (await engine.execute('SELECT n FROM t', [])).rows.map(({ n }) => n);
  const together = <T>(work: () => Promise<T>) =>
    runTogether(work, (each) => engine.endReads(each));
  /** Whether another connection can reset the log, because no read transaction is open. */
  const isFree = () => own.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0;
  return { engine, own, all, together, isFree };
}

describe('reads that belong together', () => {
  test('see one snapshot, which ends with them', async () => {
    const { own, all, together, isFree } = await open();
    const seen = await together(async () => {
      const first = await all();
      own.exec('INSERT INTO t VALUES (1)');
      return [first, await all(), isFree()];
    });
    expect(seen).toEqual([[], [], false]);
    expect(isFree()).toBe(true);
    expect(await all()).toEqual([1]);
  });

  test('see a new snapshot in a later turn', async () => {
    const { own, all, together, isFree } = await open();
    const seen = await together(async () => {
      const first = await all();
      own.exec('INSERT INTO t VALUES (1)');
      await nextTurn();
      return [first, isFree(), await all()];
    });
    expect(seen).toEqual([[], true, [1]]);
  });

  test('do not share the snapshot of another group, or of a read outside', async () => {
    const { own, all, together } = await open();
    const seen: unknown[] = [];
    await together(async () => {
      seen.push(await all());
      own.exec('INSERT INTO t VALUES (1)');
      await together(async () => void seen.push(await all()));
      own.exec('INSERT INTO t VALUES (2)');
      seen.push(await all());
    });
    expect(seen).toEqual([[], [1], [1, 2]]);
    seen.length = 0;
    const start = Promise.withResolvers<void>();
    const readOutside = async () => {
      await start.promise;
      seen.push(readsTogether(), await all());
    };
    const outside = readOutside();
    await together(async () => {
      seen.push(await all());
      own.exec('INSERT INTO t VALUES (3)');
      start.resolve();
      await outside;
    });
    expect(seen).toEqual([[1, 2], null, [1, 2, 3]]);
  });

  test('see what the store itself has committed between them', async () => {
    const { engine, all, together } = await open();
    const seen = await together(async () => {
      const first = await all();
      await engine.execute('INSERT INTO t VALUES (1)', []);
      return [first, await all()];
    });
    expect(seen).toEqual([[], [1]]);
  });

  test('end before a statement that cannot run in a transaction', async () => {
    const { engine, all, together } = await open();
    await together(async () => {
      await all();
      await engine.execute('VACUUM', []);
      expect(await all()).toEqual([]);
    });
  });

  test('of a group that has ended do not end those of another', async () => {
    const { engine, all, own, together } = await open();
    await together(async () => {
      const first = await all();
      engine.endReads({ isOver: true, beside: null });
      own.exec('INSERT INTO t VALUES (1)');
      expect([first, await all()]).toEqual([[], []]);
    });
    engine.endReads({ isOver: true, beside: null });
  });
});

test('closing SQLite leaves no timer behind, and ends an open read', async () => {
  const { engine, all, together, isFree } = await open();
  const timers = () => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;
  const before = timers();
  await together(async () => {
    await all();
    await engine.close();
  });
  expect(timers()).toBe(before);
  expect(isFree()).toBe(true);
});

describe('statements of SQLite', () => {
  function openStatements(file = newFile()) {
    const statements = new Statements(file, 0, false);
    opened.push(statements);
    return statements;
  }

  test('report the number of a row only if SQLite assigned one', () => {
    const statements = openStatements(':memory:');
    statements.run('CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER UNIQUE)');
    statements.run('CREATE TABLE bare (n INTEGER PRIMARY KEY) WITHOUT ROWID');
    statements.run('CREATE VIRTUAL TABLE words USING fts5(word)');
    statements.run('CREATE VIEW seen AS SELECT n FROM t');
    statements.run(
      'CREATE TRIGGER adds INSTEAD OF INSERT ON seen BEGIN INSERT INTO t (n) VALUES (NEW.n); END',
    );
    const ids = (...all: string[]) => all.map((sql) => statements.run(sql).insertId);
    expect(ids('INSERT INTO t (n) VALUES (1)', 'REPLACE INTO "t" (n) VALUES (2)')).toEqual([
      1n,
      2n,
    ]);
    expect(
      ids(
        'INSERT INTO bare VALUES (1)',
        'INSERT INTO t (n) SELECT n FROM bare WHERE n > 1',
        'INSERT OR IGNORE INTO t (n) VALUES (1)',
        'INSERT INTO t (n) VALUES (1) ON\n  CONFLICT (n) DO UPDATE SET n = 9',
        'INSERT INTO seen VALUES (7)',
        "INSERT INTO words VALUES ('a')",
        'INSERT INTO main.t (n) VALUES (8)',
        'UPDATE t SET n = 10 WHERE n = 2',
        'DELETE FROM t WHERE n = 10',
      ),
    ).toEqual(Array.from({ length: 9 }));
    expect(statements.run('INSERT INTO t (n) VALUES (11) RETURNING id').rows).toEqual([{ id: 5 }]);
    expect(statements.run('INSERT INTO t (n) VALUES (11) ON CONFLICT DO NOTHING').affected).toBe(0);
    expect(statements.run("INSERT INTO t (n) VALUES ('x')").affected).toBe(1);
    const large = 9_007_199_254_740_993n;
    const { insertId } = statements.run('INSERT INTO t (id) VALUES (?)', [large]);
    expect(insertId).toBe(large);
  });

  test('return rows with their columns only, and exact numbers', () => {
    const statements = openStatements(':memory:');
    const [named] = statements.run("SELECT 1 AS one, 'b' AS two").rows;
    expect(Object.entries(named ?? {})).toStrictEqual([
      ['one', 1],
      ['two', 'b'],
    ]);
    statements.run('CREATE TABLE t (n INTEGER)');
    statements.run('INSERT INTO t VALUES (?)', [7]);
    expect(statements.run('SELECT * FROM t')).toEqual({ rows: [{ n: 7 }], affected: 0 });
    statements.run('ALTER TABLE t ADD COLUMN m INTEGER');
    expect(statements.run('SELECT * FROM t').rows).toEqual([{ n: 7, m: null }]);
    expect(statements.run('UPDATE t SET n = 8')).toEqual({ rows: [], affected: 1 });
    expect(statements.isRead('SELECT 1')).toBe(true);
    expect(
      ['SELECT * FROM t', 'UPDATE t SET n = 8', 'DROP TABLE t'].map((sql) =>
        statements.isRead(sql),
      ),
    ).toEqual([true, false, false]);
  });

  test('wait for another process that opens the file at the same time', () => {
    const file = newFile();
    const other = new DatabaseSync(file);
    opened.push(other);
    other.exec('BEGIN EXCLUSIVE');
    const statements = new Statements(file, 60, false);
    const before = performance.now();
    expect(() => statements.run('SELECT 1')).toThrow('database is locked');
    expect(performance.now() - before).toBeGreaterThan(50);
  });

  test('work after many others', () => {
    const statements = openStatements(':memory:');
    for (let round = 0; round < 2; round += 1)
      for (let n = 0; n < 300; n += 1)
        expect(statements.run(`SELECT ${n} AS n`).rows).toEqual([{ n }]);
    const first = statements.prepare('SELECT 299 AS n');
    expect(statements.prepare('SELECT 299 AS n')).toBe(first);
  });

  test('know whether a transaction is open', () => {
    openStatements().close();
    const statements = openStatements();
    expect(statements.isInTransaction).toBe(false);
    statements.run('SELECT 1');
    expect(statements.isInTransaction).toBe(false);
    statements.control('BEGIN');
    expect(statements.isInTransaction).toBe(true);
    statements.control('COMMIT');
    expect(statements.isInTransaction).toBe(false);
    statements.control('BEGIN');
    statements.close();
    expect(statements.isInTransaction).toBe(false);
    statements.close();
    expect(() => statements.run('SELECT 1')).toThrow('The database is closed');
  });

  test('open a read-only file again, and keep a database in memory', () => {
    for (const file of [newFile(), ':memory:']) {
      const statements = openStatements(file);
      statements.reopen();
      statements.run('CREATE TABLE t (n INTEGER)');
      expect(statements.isReadOnly).toBe(false);
      expect(() => statements.run('INSERT INTO missing VALUES (1)')).toThrow('no such table');
      expect(statements.isReadOnly).toBe(false);
      statements.run('PRAGMA query_only = ON');
      const write = () => statements.run('INSERT INTO t VALUES (1)');
      expect(write).toThrow('attempt to write a readonly database');
      expect(statements.isReadOnly).toBe(true);
      expect(() => statements.run('SELECT missing')).toThrow('no such column');
      expect(statements.isReadOnly).toBe(true);
      const held = () => readdirSync('/proc/self/fd').length;
      const before = held();
      statements.reopen();
      expect(held() < before).toBe(file !== ':memory:');
      expect(statements.isReadOnly).toBe(false);
      if (file === ':memory:') statements.run('PRAGMA query_only = OFF');
      expect(write().affected).toBe(1);
      statements.close();
      statements.reopen();
      expect(write).toThrow('The database is closed');
    }
  });
});
