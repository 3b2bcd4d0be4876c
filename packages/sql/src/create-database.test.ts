import { describe, expect, test } from 'vitest';
import type { SqlDialect } from './contract.ts';
import { createDatabase } from './database.ts';
import type { Engine, StatementResult } from './engine.ts';
import { openDatabase } from './open-database.ts';
import type { Timer } from './opened.ts';
import { opened } from './opening.ts';
import type { PoolLimits } from './pool.ts';
import { systemTimer } from './timer.ts';

const WRITE = 'UPDATE things SET n = 1';
const coded = (code: string) => Object.assign(new Error(code), { code });
const CONFLICT = coded('40001');
const LOST = coded('ECONNRESET');
/** SQLite's error for a locked file. */
const LOCKED = Object.assign(new Error('locked'), { errcode: 5 });
const DONE: StatementResult = { rows: [{ n: 1 }], affected: 1 };

/** What happens to the next statements or commits. `isUnknown` means that the response was lost. */
interface Failure {
  readonly error: Error;
  readonly isUnknown?: boolean;
}

/** Opens a store on an engine that fails with these failures, one after the other. */
function openFailing(dialect: SqlDialect, ...failures: Failure[]) {
  const events: string[] = [];
  let now = 0;
  const timer: Timer = {
    now: () => now,
    after(milliseconds, call) {
      now += milliseconds;
      queueMicrotask(call);
      return () => {};
    },
  };
  const fail = (onUnknown?: () => void) => {
    const failure = failures.shift();
    if (failure === undefined) return;
    if (failure.isUnknown === true) onUnknown?.();
    throw failure.error;
  };
  const execute: Engine['execute'] = async (sql, parameters, onUnknown) => {
    events.push([sql, ...parameters].join(' '));
    fail(onUnknown);
    return DONE;
  };
  const engine: Engine = {
    execute,
    async transaction(work, onUnknown) {
      const result = await work({
        async execute(sql, parameters) {
          events.push(`on ${[sql, ...parameters].join(' ')}`);
          return DONE;
        },
      });
      events.push('commit');
      fail(onUnknown);
      return result;
    },
    endReads: () => void events.push('end reads'),
    connections: () => ({ used: 1, idle: 2, waiting: 3, most: 4 }),
    close: async () => void events.push('close engine'),
  };
  const database = createDatabase({
    dialect,
    schema: null,
    engine,
    store: {},
    limits: { duration: null, idle: null, timer },
    withoutTimeout: (itself) => itself,
    close: async () => void events.push('close'),
  });
  return { database, events, time: () => now };
}

/** Answers whether a write took effect, with these answers. The last one stays. */
const asked = (...answers: (boolean | Error)[]) => {
  const left = [...answers];
  const committed = async () => {
    const answer = left.length > 1 ? left.shift() : left[0];
    if (answer instanceof Error) throw answer;
    return answer ?? false;
  };
  return { left, committed };
};

describe('a single statement', () => {
  test('is retried after a conflict on a server, and counted', async () => {
    const { database, events } = openFailing('postgres', { error: CONFLICT }, { error: CONFLICT });
    expect(await database.execute(`${WRITE} WHERE id = ?`, [7])).toBe(DONE);
    expect(events).toEqual(Array.from({ length: 3 }, () => `${WRITE} WHERE id = ? 7`));
    expect(database.retries).toEqual({ statements: 2, transactions: 0 });
  });

  test('is not retried on SQLite, whose queue does it', async () => {
    const { database, events } = openFailing('sqlite', { error: CONFLICT });
    await expect(database.execute(WRITE)).rejects.toBe(CONFLICT);
    expect(events).toEqual([WRITE]);
    expect(database.retries).toEqual({ statements: 0, transactions: 0 });
  });

  // @shows AS-18.9
  test('whose response was lost succeeded if the database has its effect', async () => {
    for (const [answer, outcome] of [
      [true, { rows: [], affected: 1 }],
      [false, LOST],
    ] as const) {
      const { database, events } = openFailing('postgres', { error: LOST, isUnknown: true });
      const { committed } = asked(LOST, answer);
      const found = await database.execute(WRITE, [], committed).catch((error: unknown) => error);
      expect(found).toEqual(outcome);
      expect(events).toEqual([WRITE]);
    }
  });

  test('that failed, or that succeeded, is not looked up', async () => {
    const { database } = openFailing('postgres', { error: LOST });
    const { committed, left } = asked(true, true);
    await expect(database.execute(WRITE, [], committed)).rejects.toBe(LOST);
    expect(await database.execute(WRITE, [], committed)).toBe(DONE);
    expect(left).toHaveLength(2);
  });

  test('is looked up once on SQLite, and for thirty seconds on a server', async () => {
    for (const [dialect, least] of [
      ['sqlite', 0],
      ['postgres', 30_000],
    ] as const) {
      const { database, time } = openFailing(dialect, { error: LOST, isUnknown: true });
      await expect(database.execute(WRITE, [], asked(LOST).committed)).rejects.toBe(LOST);
      expect(time() >= least && time() <= least * 1.1).toBe(true);
    }
  });

  test('of the check runs on the store', async () => {
    const { database, events } = openFailing('postgres', { error: LOST, isUnknown: true });
    await database.execute(WRITE, [], async (on) => {
      const { rows } = await on.execute('SELECT n FROM things WHERE id = ?', [7]);
      return rows.length === 1;
    });
    expect(events).toEqual([WRITE, 'SELECT n FROM things WHERE id = ? 7']);
  });
});

describe('a transaction', () => {
  const write = (on: { execute(sql: string): Promise<unknown> }) =>
    on.execute(WRITE).then(() => 'written');

  test('runs again after a conflict, and is counted', async () => {
    const { database, events } = openFailing('sqlite', { error: CONFLICT, isUnknown: true });
    const { committed, left } = asked(true, true);
    expect(await database.transaction(write, committed)).toBe('written');
    expect(events).toEqual([`on ${WRITE}`, 'commit', `on ${WRITE}`, 'commit']);
    expect(database.retries).toEqual({ statements: 0, transactions: 1 });
    expect(left).toHaveLength(2);
  });

  // @shows AS-18.9
  test('whose commit was lost has its result if the database has its effect', async () => {
    for (const [answer, outcome] of [
      [true, 'written'],
      [false, LOST],
    ] as const) {
      const { database, events } = openFailing('postgres', { error: LOST, isUnknown: true });
      const given: unknown[] = [];
      const found = await database
        .transaction(write, async (on, result) => {
          given.push(result);
          await on.execute('SELECT 1');
          return answer;
        })
        .catch((error: unknown) => error);
      expect(found).toBe(outcome);
      expect(given).toEqual(['written']);
      expect(events).toEqual([`on ${WRITE}`, 'commit', 'SELECT 1']);
    }
  });

  test('without a check fails if its commit was lost', async () => {
    const { database } = openFailing('postgres', { error: LOST, isUnknown: true });
    await expect(database.transaction(write)).rejects.toBe(LOST);
  });

  test('that failed for certain, or whose work failed, is not looked up', async () => {
    const { database } = openFailing('postgres', { error: LOST });
    const { committed, left } = asked(true, true);
    await expect(database.transaction(write, committed)).rejects.toBe(LOST);
    const failing = database.transaction(() => Promise.reject(LOST), committed);
    await expect(failing).rejects.toBe(LOST);
    expect(left).toHaveLength(2);
  });
});

test('a transaction whose work finds the store unavailable is not looked up', async () => {
  const database = openDatabase('sqlite::memory:', { directory: '/' });
  const { committed, left } = asked(true, true);
  await expect(database.transaction(() => Promise.reject(LOCKED), committed)).rejects.toBe(LOCKED);
  expect(left).toHaveLength(2);
  await database.close();
});

describe('a store', () => {
  test('passes its parts on', async () => {
    const { database, events } = openFailing('postgres');
    expect(database.dialect).toBe('postgres');
    expect(database.schema).toBeNull();
    expect(database.connections()).toEqual({ used: 1, idle: 2, waiting: 3, most: 4 });
    expect(database.withoutTimeout()).toBe(database);
    expect(await database.readTogether(async () => 'read')).toBe('read');
    await database.close();
    expect(events).toEqual(['end reads', 'close', 'close engine']);
  });

  test('refuses calls inside its own transaction, before they reach the engine', async () => {
    const { database, events } = openFailing('postgres');
    const inside = { name: 'TransactionError', reason: 'inside' };
    await database.transaction(async () => {
      await expect(database.execute(WRITE)).rejects.toMatchObject(inside);
      await expect(database.transaction(async () => 1)).rejects.toMatchObject(inside);
    });
    expect(events).toEqual(['commit']);
  });
});

describe('the limits of a store', () => {
  test('are in seconds, and reach its engine in milliseconds', async () => {
    const given: unknown[] = [];
    const closed: number[] = [];
    const engineOf = (limits: PoolLimits) => {
      const { timer, ...times } = limits;
      const place = given.push(times, timer);
      return { close: async () => void closed.push(place) } as Engine;
    };
    const timer: Timer = { now: () => 0, after: () => () => {} };
    const database = opened('postgres', engineOf, { directory: '/' });
    database.withoutTimeout();
    await database.close();
    expect(closed).toEqual([4, 2]);
    expect(given.splice(0)).toEqual([
      { connectionLifetime: 300_000, statementTimeout: 10_000, idleTimeout: 2000 },
      systemTimer,
      { connectionLifetime: 300_000, statementTimeout: null, idleTimeout: null },
      systemTimer,
    ]);
    const times = { connectionLifetime: 7, statementTimeout: 8, transactionIdleTimeout: 9 };
    opened('postgres', engineOf, { directory: '/', timer, ...times });
    expect(given).toEqual([
      { connectionLifetime: 7000, statementTimeout: 8000, idleTimeout: 9000 },
      timer,
    ]);
  });

  test('are measured by the clock of the process', async () => {
    const before = performance.now();
    expect(systemTimer.now()).toBeGreaterThanOrEqual(before);
    const calls: string[] = [];
    const stop = systemTimer.after(1, () => calls.push('stopped'));
    stop();
    await new Promise<void>((resolve) => void systemTimer.after(2, resolve));
    expect(calls).toEqual([]);
  });
});

describe('the store without a time limit', () => {
  const options = { directory: '/' };

  test('is the same each time, and closes with its store', async () => {
    const database = openDatabase('sqlite::memory:', options);
    const unlimited = database.withoutTimeout();
    expect(database.withoutTimeout()).toBe(unlimited);
    expect(unlimited.withoutTimeout()).toBe(unlimited);
    await unlimited.execute('CREATE TABLE things (n INTEGER)');
    expect((await database.execute('SELECT n FROM things')).rows).toEqual([]);
    await database.close();
    await expect(unlimited.execute('SELECT 1')).rejects.toThrow('closed');
  });

  test('is not opened by closing the store', async () => {
    const database = openDatabase('sqlite::memory:', options);
    await database.close();
    await expect(database.execute('SELECT 1')).rejects.toThrow('closed');
  });

  test('has a schema only on PostgreSQL', () => {
    const openWith = (url: string, schema: string) => openDatabase(url, { directory: '/', schema });
    expect(() => openWith('sqlite::memory:', 'app')).toThrow(
      'database_schema: is only for PostgreSQL; sqlite has no schemas',
    );
    expect(() => openWith('mysql://host/db', 'app')).toThrow('mysql has no schemas');
    expect(() => openWith('postgres://host/db', '')).toThrow(/^database_schema: /);
    expect(openWith('postgres://host/db', 'app').schema).toBe('app');
    expect(openDatabase('postgres://host/db', options).schema).toBeNull();
  });
});
