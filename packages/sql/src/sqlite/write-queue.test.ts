import { mkdtempSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { openSqlite } from './engine.ts';
import { countCommits } from './write-queue.ts';

let folder: string;
let files = 0;
beforeAll(() => void (folder = mkdtempSync(path.join(tmpdir(), 'portico-queue-'))));
afterAll(() => rmSync(folder, { recursive: true }));
const opened: { close(): unknown }[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const each of opened.splice(0).toReversed()) await each.close();
});

const ORPHANS = 'CREATE TABLE u (n INTEGER REFERENCES t (n) DEFERRABLE INITIALLY DEFERRED)';
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));
const statuses = async (all: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(all)).map((each) =>
    each.status === 'fulfilled' ? 'done' : (each.reason as Error).message,
  );

/** Opens an engine on a new file with a table, and another connection to the file. */
async function open({ isBorrowed = false, memory = false } = {}) {
  files += 1;
  const file = memory ? ':memory:' : path.join(folder, `${files}.sqlite`);
  const engine = openSqlite(file, { isBorrowed });
  opened.push(engine);
  await engine.execute('CREATE TABLE t (n INTEGER UNIQUE)', []);
  const insert = (n: number, onUnknown?: () => void) =>
    engine.execute('INSERT INTO t VALUES (?)', [n], onUnknown);
  const all = async () =>
    (await engine.execute('SELECT n FROM t ORDER BY n', [])).rows.map(({ n }) => n);
  const lock = () => {
    const other = new DatabaseSync(file, { timeout: 0 });
    opened.push(other);
    return other;
  };
  return { engine, insert, all, lock };
}

/** Replaces the clock. Each look at it adds `step` milliseconds. */
function stopClock(step = 0) {
  let [now, looks] = [0, 0];
  vi.spyOn(performance, 'now').mockImplementation(() => {
    looks += 1;
    return (now += step);
  });
  return { pass: (milliseconds: number) => void (now += milliseconds), looks: () => looks };
}

describe('writes to SQLite', () => {
  test('that arrive together are committed together, and at most 32 of them', async () => {
    const { insert, all } = await open();
    const before = countCommits();
    await Promise.all([1, 2, 3].map((n) => insert(n)));
    expect(countCommits() - before).toBe(1);
    await Promise.all(Array.from({ length: 64 }, (_, n) => insert(n + 10)));
    expect(countCommits() - before).toBe(3);
    expect(await all()).toHaveLength(67);
  });

  test('wait for others that arrive in the next turns, but not for long', async () => {
    const { insert } = await open();
    const before = countCommits();
    /** Begins a write in each of several turns, before the queue looks at its writes. */
    const writeInTurns = (n: number, last: number): Promise<unknown> => {
      const rest = n < last ? nextTurn().then(() => writeInTurns(n + 1, last)) : null;
      return Promise.all([insert(n), rest]);
    };
    await writeInTurns(1, 3);
    expect(countCommits() - before).toBe(1);
    await writeInTurns(10, 20);
    expect(countCommits() - before).toBeGreaterThan(2);
  });

  // @shows AS-18.9
  test('are unknown only if they may have taken effect', async () => {
    const { engine, insert } = await open();
    await engine.execute(ORPHANS, []);
    const unknown: string[] = [];
    const tell = (name: string) => () => void unknown.push(name);
    await insert(1, tell('done'));
    await insert(1, tell('refused')).catch(() => {});
    expect(unknown.splice(0)).toEqual(['done']);
    await engine.execute('INSERT INTO u VALUES (9)', [], tell('commit')).catch(() => {});
    expect(unknown.splice(0)).toEqual(['commit']);
    await engine
      .transaction((on) => on.execute('INSERT INTO u VALUES (9)', []), tell('transaction'))
      .catch(() => {});
    await engine.transaction(() => Promise.reject(new Error('no')), tell('work')).catch(() => {});
    await engine.transaction(async () => 'done', tell('nothing'));
    expect(unknown).toEqual([]);
  });

  test('fail together if the disk is full, and later ones succeed', async () => {
    const { engine, insert, all } = await open();
    await insert(1);
    const { rows } = await engine.execute('PRAGMA page_count', []);
    await engine.execute(`PRAGMA max_page_count = ${Number(rows[0]?.['page_count'])}`, []);
    const unknown: string[] = [];
    const before = insert(2);
    const large = engine.transaction(
      (on) => on.execute('INSERT INTO t VALUES (zeroblob(100000))', []),
      () => unknown.push('large'),
    );
    const full = 'database or disk is full';
    expect(await statuses([before, large, insert(3)])).toEqual([full, full, full]);
    expect(unknown).toEqual(['large']);
    await engine.execute('PRAGMA max_page_count = 100000', []);
    await insert(4);
    expect(await all()).toEqual([1, 4]);
  });

  test('that were set aside or wait longer do not fail because the disk is full', async () => {
    const { engine, insert, all } = await open();
    await insert(1);
    const { rows } = await engine.execute('PRAGMA page_count', []);
    await engine.execute(`PRAGMA max_page_count = ${Number(rows[0]?.['page_count'])}`, []);
    const { pass } = stopClock();
    const gate = Promise.withResolvers<void>();
    const aside = engine.transaction(async (on) => {
      await on.execute('INSERT INTO t VALUES (2)', []);
      await gate.promise;
      return 'aside';
    });
    let later: Promise<unknown> = gate.promise;
    const large = engine.transaction(async (on) => {
      await on.execute('INSERT INTO t VALUES (3)', []);
      later = insert(4);
      pass(6000);
      await on.execute('INSERT INTO t VALUES (zeroblob(100000))', []);
    });
    await expect(large).rejects.toThrow('database or disk is full');
    await later;
    gate.resolve();
    expect(await aside).toBe('aside');
    expect(await all()).toEqual([1, 2, 4]);
  });

  test('are tried alone after one of them made the commit fail', async () => {
    const { engine, insert, all } = await open();
    await engine.execute(ORPHANS, []);
    const orphan = () => engine.execute('INSERT INTO u VALUES (99)', []);
    const before = countCommits();
    expect(await statuses([insert(1), orphan(), insert(2), orphan(), insert(1)])).toEqual([
      'done',
      'FOREIGN KEY constraint failed',
      'done',
      'FOREIGN KEY constraint failed',
      'UNIQUE constraint failed: t.n',
    ]);
    expect(await all()).toEqual([1, 2]);
    expect(countCommits() - before).toBe(3);
  });

  // @shows AS-18.13
  test('of a transaction that another statement rolled back fail, and are not committed', async () => {
    const { engine, insert, all } = await open();
    await insert(1);
    const failing = engine.transaction(async (on) => {
      await on.execute('INSERT INTO t VALUES (2)', []);
      await on.execute('INSERT OR ROLLBACK INTO t VALUES (1)', []).catch(() => {});
      await expect(on.execute('INSERT INTO t VALUES (3)', [])).rejects.toThrow(
        'The transaction was rolled back, because a statement failed',
      );
      await nextTurn();
    });
    await expect(failing).rejects.toThrow('The transaction was rolled back');
    const ignoring = engine.transaction((on) =>
      on.execute('INSERT OR ROLLBACK INTO t VALUES (1)', []).catch(() => 'ignored'),
    );
    await expect(ignoring).rejects.toThrow('The transaction was rolled back');
    const alone = engine.execute('INSERT OR ROLLBACK INTO t VALUES (1)', []);
    expect(await statuses([insert(4), alone, insert(5)])).toEqual([
      'done',
      'UNIQUE constraint failed: t.n',
      'done',
    ]);
    expect(await all()).toEqual([1, 4, 5]);
  });

  test('of a work that waits are undone meanwhile, and made again when it continues', async () => {
    const { engine, insert, all } = await open();
    const gate = Promise.withResolvers<void>();
    const waiting = engine.transaction(async (on) => {
      await on.execute('INSERT INTO t VALUES (1)', []);
      await gate.promise;
      await on.execute('INSERT INTO t VALUES (2)', []);
      return 'both';
    });
    await insert(3);
    expect(await all()).toEqual([3]);
    gate.resolve();
    expect(await waiting).toBe('both');
    expect(await all()).toEqual([1, 2, 3]);
  });
});

describe('writes to SQLite while another connection has the lock', () => {
  const LOCKED = 'database is locked';

  test('wait for it, and are committed together when it ends', async () => {
    const { insert, lock, all } = await open();
    const other = lock();
    other.exec('BEGIN IMMEDIATE');
    const writes = [insert(1), insert(2)];
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    const before = countCommits();
    other.exec('INSERT INTO t VALUES (3); COMMIT');
    await Promise.all(writes);
    expect(countCommits() - before).toBe(1);
    expect(await all()).toEqual([1, 2, 3]);
  });

  // @shows AS-18.12
  test('fail after five seconds with all that have waited as long, and no others', async () => {
    const { pass, looks } = stopClock();
    const { insert, lock, all } = await open();
    const other = lock();
    other.exec('BEGIN IMMEDIATE');
    const first = insert(1);
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    pass(0.5);
    const second = insert(2);
    pass(0.5);
    const third = insert(3);
    pass(4999);
    let failed = false;
    const failing = statuses([first, second]);
    void failing.then(() => (failed = true));
    const before = looks();
    await expect.poll(looks).toBeGreaterThan(before + 2);
    expect(failed).toBe(false);
    pass(0.5);
    expect(await failing).toEqual([LOCKED, LOCKED]);
    other.exec('COMMIT');
    await third;
    expect(await all()).toEqual([3]);
  });

  // @shows AS-18.13
  test('fail with their transaction, which gets the error at the statement that waits', async () => {
    const { engine, lock, all } = await open();
    const other = lock();
    const gate = Promise.withResolvers<void>();
    const seen: unknown[] = [];
    const waiting = engine.transaction(async (on) => {
      await on.execute('INSERT INTO t VALUES (1)', []);
      await gate.promise;
      await on.execute('INSERT INTO t VALUES (2)', []).catch((error: unknown) => {
        seen.push(String(error));
        throw error;
      });
    });
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    other.exec('BEGIN IMMEDIATE');
    stopClock(1000);
    gate.resolve();
    await expect(waiting).rejects.toThrow(LOCKED);
    await nextTurn();
    expect(seen).toEqual([`Error: ${LOCKED}`]);
    other.exec('COMMIT');
    expect(await all()).toEqual([]);
  });

  test('do not fail the transaction that was set aside, without WAL', async () => {
    const { engine, insert, lock, all } = await open({ isBorrowed: true });
    await engine.execute(ORPHANS, []);
    const other = lock();
    other.exec('BEGIN; SELECT n FROM t');
    const gate = Promise.withResolvers<void>();
    const aside = engine.transaction(async (on) => {
      await on.execute('INSERT INTO t VALUES (1)', []);
      await gate.promise;
      return 'aside';
    });
    stopClock(1000);
    await insert(2).catch(() => {});
    other.exec('COMMIT');
    gate.resolve();
    expect(await aside).toBe('aside');
    expect(await all()).toContain(1);
  });

  test('do not fail a transaction that was set aside when it was tried alone', async () => {
    const { engine, insert, lock, all } = await open({ isBorrowed: true });
    const other = lock();
    await insert(1);
    other.exec('BEGIN; SELECT n FROM t');
    const undoing = engine.transaction((on) =>
      on.execute('INSERT OR ROLLBACK INTO t VALUES (1)', []).catch(() => {}),
    );
    const gate = Promise.withResolvers<void>();
    const aside = engine.transaction(async (on) => {
      await on.execute('INSERT INTO t VALUES (2)', []);
      await gate.promise;
      return 'aside';
    });
    stopClock(1000);
    await expect(undoing).rejects.toThrow('The transaction was rolled back');
    // This write fails after the commit of the other one has failed, which contains no change.
    await expect(insert(3)).rejects.toThrow(LOCKED);
    other.exec('COMMIT');
    gate.resolve();
    expect(await aside).toBe('aside');
    expect(await all()).toEqual([1, 2]);
  });

  test('and that are tried alone fail with the first one that waited too long', async () => {
    const { engine, insert, lock, all } = await open();
    const other = lock();
    await engine.execute(ORPHANS, []);
    const orphan = engine.execute('INSERT INTO u VALUES (99)', []);
    const first = engine.transaction((on) => on.execute('INSERT INTO t VALUES (1)', []));
    const locked = first.then(() => {
      stopClock(1000);
      return other.exec('BEGIN IMMEDIATE');
    });
    const second = insert(2);
    second.catch(() => other.exec('COMMIT'));
    expect(await statuses([orphan, locked, second, insert(3), insert(4)])).toEqual([
      'FOREIGN KEY constraint failed',
      'done',
      LOCKED,
      LOCKED,
      LOCKED,
    ]);
    expect(await all()).toEqual([1]);
  });

  // @shows AS-18.9
  test('without WAL wait for its readers before the commit', async () => {
    const { engine, insert, lock, all } = await open({ isBorrowed: true });
    const other = lock();
    await insert(1);
    expect((await engine.execute('PRAGMA journal_mode', [])).rows).toEqual([
      { journal_mode: 'delete' },
    ]);
    other.exec('BEGIN; SELECT n FROM t');
    const unknown: string[] = [];
    stopClock(1000);
    const write = insert(2, () => unknown.push('statement'));
    await expect(write).rejects.toThrow(LOCKED);
    expect(unknown).toEqual(['statement']);
    other.exec('COMMIT');
    await insert(3);
    expect(await all()).toEqual([1, 3]);
  });
});

describe('a read from SQLite', () => {
  test('waits for an open batch, and for a lock', async () => {
    const { engine, insert, lock, all } = await open({ isBorrowed: true });
    const seen: unknown[] = [];
    let reading: Promise<unknown> = Promise.resolve();
    await engine.transaction(async (on) => {
      await on.execute('INSERT INTO t VALUES (1)', []);
      reading = all().then((found) => seen.push(found));
    });
    await reading;
    expect(seen).toEqual([[1]]);
    const other = lock();
    other.exec('BEGIN EXCLUSIVE; INSERT INTO t VALUES (2)');
    const waiting = all();
    await nextTurn();
    other.exec('COMMIT');
    expect(await waiting).toEqual([1, 2]);
    await insert(3);
  });

  test('fails if it waits too long for a lock, and at once if it is wrong', async () => {
    const { engine, lock, all } = await open({ isBorrowed: true });
    const other = lock();
    other.exec('BEGIN EXCLUSIVE');
    stopClock(1000);
    await expect(all()).rejects.toThrow('database is locked');
    vi.restoreAllMocks();
    other.exec('COMMIT');
    await expect(engine.execute('SELECT missing FROM t', [])).rejects.toThrow('no such column');
  });
});

describe('closing SQLite', () => {
  // @shows AS-18.8
  test('waits for the writes that wait, and refuses later statements', async () => {
    const { engine, insert, all } = await open();
    const writes = Array.from({ length: 40 }, (_, n) => insert(n));
    await engine.close();
    expect(new Set(await statuses(writes))).toEqual(new Set(['done']));
    await engine.close();
    await expect(all()).rejects.toThrow('The database is closed');
    await expect(insert(100)).rejects.toThrow('The database is closed');
  });

  test('has no connections to report', async () => {
    const { engine } = await open({ memory: true });
    expect(engine.connections()).toBeNull();
  });
});

// @shows AS-18.12
test('writes to SQLite are refused as unavailable while 10,000 wait', async () => {
  const { engine } = await open({ memory: true });
  const write = () => engine.execute('DELETE FROM t', []);
  const waiting = Array.from({ length: 10_000 }, write);
  await expect(write()).rejects.toMatchObject({
    message: 'Too many writes are waiting',
    errcode: 5,
  });
  let unknown = 0;
  const refused = engine.transaction(
    async () => 'done',
    () => (unknown += 1),
  );
  await expect(refused).rejects.toThrow('Too many');
  expect(unknown).toBe(1);
  await Promise.all(waiting.slice(0, 32));
  await write();
});
