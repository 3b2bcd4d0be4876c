import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { numberOrNull, PoolEngine, type PooledConnection, type ReadTogether } from './pool.ts';
import { isStatementError } from './postgres/statement.ts';
import { runTogether } from './together.ts';

const lost = (code: string) => Object.assign(new Error(code), { code });
const WRITE = 'UPDATE things SET n = 1';
const READ = 'SELECT n FROM things';
const REFUSED = lost('23505');
const BROKEN = lost('ECONNRESET');
const READ_ONLY = lost('25006');

/** What the server of a test does. A test changes it. */
interface Server {
  fails: Error | null;
  /** Whether the server has no open transaction. */
  idle: boolean | null;
  refuses: Error | null;
}

/**
 * Opens a pool that gives out its connections again. `events` lists what Portico does with each
 * connection.
 */
function openPool({
  lifetime = null,
  readTogether = null,
}: {
  readonly lifetime?: number | null;
  readonly readTogether?: ReadTogether | null;
} = {}) {
  const server: Server = { fails: null, idle: null, refuses: null };
  const events: string[] = [];
  const idle: PooledConnection[] = [];
  let opened = 0;
  let now = 0;
  const create = (): PooledConnection => {
    opened += 1;
    const name = String(opened);
    const answer = async (sql: string) => {
      events.push(`${name}: ${sql}`);
      if (server.fails !== null) throw server.fails;
      return { rows: [], affected: 1 };
    };
    const connection: PooledConnection = {
      execute: answer,
      begin: () => answer('BEGIN'),
      commit: () => answer('COMMIT'),
      isIdle: () => server.idle,
      askStatus: () => answer('ask'),
      release(broken) {
        events.push(`${name} ${broken ? 'closed' : 'back'}`);
        if (!broken) idle.push(connection);
      },
    };
    return connection;
  };
  const open = async () => {
    events.push('open');
    if (server.refuses !== null) throw server.refuses;
    return {
      async connect() {
        if (server.refuses !== null) throw server.refuses;
        return idle.pop() ?? create();
      },
      end: async () => void events.push('end'),
      figures: () => ({ idle: idle.length, most: 7 }),
    };
  };
  const engine = new PoolEngine(
    open,
    isStatementError,
    {
      statementTimeout: null,
      idleTimeout: null,
      connectionLifetime: lifetime,
      timer: { now: () => now, after: () => () => {} },
    },
    readTogether,
  );
  return { engine, server, events, pass: (time: number) => void (now += time) };
}

describe('a pool', () => {
  test('is opened at the first statement, once, and closed with its connections', async () => {
    const { engine, events } = openPool();
    expect(engine.connections()).toEqual({ used: 0, waiting: 0, idle: 0, most: null });
    await Promise.all([engine.execute(WRITE, []), engine.execute(WRITE, [])]);
    expect(events.filter((each) => each === 'open')).toHaveLength(1);
    expect(engine.connections()).toEqual({ used: 0, waiting: 0, idle: 2, most: 7 });
    await engine.close();
    await engine.close();
    expect(events.filter((each) => each === 'end')).toHaveLength(1);
    await expect(engine.execute(WRITE, [])).rejects.toThrow('The database is closed');
    await expect(engine.transaction((on) => on.execute(WRITE, []))).rejects.toThrow('closed');
  });

  test('that could not be opened is opened by the next statement', async () => {
    const { engine, server, events } = openPool();
    server.refuses = new Error('no driver');
    await expect(engine.execute(WRITE, [])).rejects.toThrow('no driver');
    server.refuses = null;
    await engine.execute(WRITE, []);
    expect(events).toEqual(['open', 'open', `1: ${WRITE}`, '1 back']);
  });

  test('that cannot be opened can be closed, and so can one that nothing used', async () => {
    const { engine, server } = openPool();
    await engine.close();
    const { engine: other, server: away } = openPool();
    server.refuses = away.refuses = new Error('no driver');
    const failing = other.execute(WRITE, []);
    await Promise.all([other.close(), expect(failing).rejects.toThrow('no driver')]);
  });

  test('counts the connections in use and the requests that wait', async () => {
    const { engine, server } = openPool();
    const asked = engine.transaction(async (on) => {
      await on.execute(WRITE, []);
      return engine.connections();
    });
    expect(await asked).toMatchObject({ used: 1, waiting: 0 });
    const waiting = engine.execute(WRITE, []);
    expect(engine.connections()).toMatchObject({ used: 0, waiting: 1 });
    await waiting;
    server.refuses = new Error('full');
    await expect(engine.execute(WRITE, [])).rejects.toThrow('full');
    expect(engine.connections()).toMatchObject({ used: 0, waiting: 0 });
  });

  test('sends no statement that begins or ends a transaction', async () => {
    const { engine, events } = openPool();
    await expect(engine.execute('COMMIT', [])).rejects.toThrow('Use transaction() instead');
    expect(events).toEqual([]);
  });

  // @shows AS-18.18
  test.each([
    ['refused the statement', REFUSED, 'back', 0],
    ['is read-only', READ_ONLY, 'closed', 0],
    ['was lost', BROKEN, 'closed', 1],
  ])('keeps a connection only if the server %s', async (_, error, then, unknown) => {
    const { engine, server, events } = openPool();
    error.stack = 'at socket';
    server.fails = error;
    let asked = 0;
    await expect(engine.execute(WRITE, [], () => (asked += 1))).rejects.toBe(error);
    await expect(engine.execute(WRITE, [])).rejects.toBe(error);
    expect(events.filter((each) => !each.includes(':'))).toEqual([
      'open',
      `1 ${then}`,
      `${then === 'back' ? 1 : 2} ${then}`,
    ]);
    expect(asked).toBe(unknown);
    expect(error.stack).not.toContain('at socket');
  });

  // @shows AS-18.18
  test('closes a connection with a transaction that the application left open', async () => {
    const { engine, server, events } = openPool();
    server.idle = false;
    let unknown = 0;
    const failing = engine.execute(WRITE, [], () => (unknown += 1));
    await expect(failing).rejects.toThrow('The application left a transaction open');
    expect(events.at(-1)).toBe('1 closed');
    expect(unknown).toBe(0);
  });

  test('gives out a connection until its lifetime ends, and all anew after a read-only server', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0).mockReturnValueOnce(0.5);
    onTestFinished(() => void vi.restoreAllMocks());
    const { engine, server, events, pass } = openPool({ lifetime: 1000 });
    const used = async () => {
      await engine.execute(WRITE, []).catch(() => {});
      return events.splice(0).filter((each) => each !== 'open');
    };
    const first = [`1: ${WRITE}`, '1 back'];
    expect(await used()).toEqual(first);
    pass(949);
    expect(await used()).toEqual(first);
    pass(2);
    expect(await used()).toEqual(['1 closed', `2: ${WRITE}`, '2 back']);
    pass(899);
    expect(await used()).toEqual([`2: ${WRITE}`, '2 back']);
    pass(1);
    expect(await used()).toEqual(['2 closed', `3: ${WRITE}`, '3 back']);
    // Two connections are open while the server becomes read-only.
    server.fails = REFUSED;
    await used();
    server.fails = null;
    expect(await used()).toEqual([`3: ${WRITE}`, '3 back']);
    await Promise.all([engine.execute(WRITE, []), engine.execute(WRITE, [])]);
    events.length = 0;
    server.fails = READ_ONLY;
    expect((await used()).at(-1)).toMatch(/closed$/);
    server.fails = null;
    expect(await used()).toEqual([expect.stringMatching(/closed$/), `5: ${WRITE}`, '5 back']);
    expect(await used()).toEqual([`5: ${WRITE}`, '5 back']);
    expect(engine.connections()).toMatchObject({ used: 0, waiting: 0 });
  });

  test('of the application decides itself how long it uses a connection', async () => {
    const { engine, server, events, pass } = openPool();
    await Promise.all([engine.execute(WRITE, []), engine.execute(WRITE, [])]);
    server.fails = READ_ONLY;
    await engine.execute(WRITE, []).catch(() => {});
    server.fails = null;
    pass(1_000_000);
    events.length = 0;
    await engine.execute(WRITE, []);
    expect(events).toEqual([`1: ${WRITE}`, '1 back']);
  });
});

describe('a transaction on a pool', () => {
  test('takes one connection at its first statement, and returns it after the commit', async () => {
    const { engine, events } = openPool();
    expect(await engine.transaction(async () => 'nothing')).toBe('nothing');
    expect(events).toEqual([]);
    const both = await engine.transaction((on) =>
      Promise.all([on.execute(WRITE, []), on.execute(READ, [])]),
    );
    expect(both).toHaveLength(2);
    expect(events).toEqual([
      'open',
      '1: BEGIN',
      `1: ${WRITE}`,
      `1: ${READ}`,
      '1: COMMIT',
      '1 back',
    ]);
  });

  test('is rolled back if its work throws', async () => {
    const { engine, events } = openPool();
    const failing = engine.transaction(async (on) => {
      await on.execute(WRITE, []);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(events).toEqual(['open', '1: BEGIN', `1: ${WRITE}`, '1: ROLLBACK', '1 back']);
    await expect(engine.transaction(() => Promise.reject(new Error('at once')))).rejects.toThrow(
      'at once',
    );
  });

  test('fails with the error of its work, and not with that of its rollback', async () => {
    const { engine, server, events } = openPool();
    const failing = engine.transaction(async (on) => {
      await on.execute(WRITE, []);
      server.fails = REFUSED;
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(events.at(-1)).toBe('1 closed');
  });

  test('that cannot be committed fails with the error of the commit', async () => {
    const { engine, server } = openPool();
    for (const [error, asked] of [
      [BROKEN, ['asked']],
      [REFUSED, []],
    ] as const) {
      const events: string[] = [];
      const commit = (onUnknown?: () => void) => {
        server.fails = null;
        return engine.transaction(async (on) => {
          await on.execute(WRITE, []);
          server.fails = error;
        }, onUnknown);
      };
      await expect(commit()).rejects.toBe(error);
      await expect(commit(() => events.push('asked'))).rejects.toBe(error);
      expect(events).toEqual(asked);
    }
  });

  test('that cannot begin is rolled back, and returns its connection', async () => {
    const { engine, server, events } = openPool();
    for (const [error, after] of [
      [REFUSED, ['1: BEGIN', '1: ROLLBACK', '1 closed']],
      [BROKEN, ['2: BEGIN', '2 closed']],
    ] as const) {
      server.fails = error;
      await expect(engine.transaction((on) => on.execute(WRITE, []))).rejects.toBe(error);
      expect(events.splice(0).filter((each) => each !== 'open')).toEqual(after);
    }
    expect(engine.connections()).toMatchObject({ used: 0, waiting: 0 });
  });
});

describe('reads that are sent together', () => {
  const both = (engine: PoolEngine, ...statements: string[]) =>
    Promise.allSettled(
      statements.map((sql) =>
        runTogether(
          () => engine.execute(sql, []),
          () => {},
        ),
      ),
    );
  const outcomes = (settled: readonly PromiseSettledResult<unknown>[]) =>
    settled.map((each) => (each.status === 'fulfilled' ? each.value : (each.reason as unknown)));
  const rows = (n: number) => ({ rows: [{ n }], affected: 0 });

  function openSharing(answer: ReadTogether) {
    const sent: string[][] = [];
    const pool = openPool({
      async readTogether(connection, reads) {
        sent.push(reads.map(({ sql }) => sql));
        return answer(connection, reads);
      },
    });
    return { ...pool, sent };
  }

  test('get their results in one round trip', async () => {
    const { engine, events, sent } = openSharing(async () => ({ results: [rows(1), rows(2)] }));
    expect(outcomes(await both(engine, 'SELECT 1', 'SELECT 2'))).toEqual([rows(1), rows(2)]);
    expect(sent).toEqual([['SELECT 1', 'SELECT 2']]);
    expect(events).toEqual(['open', '1 back']);
    expect(engine.connections()).toMatchObject({ used: 0 });
  });

  test('are only reads of a group, without a check of their effect', async () => {
    const { engine, events, sent } = openSharing(async () => ({ results: [rows(1), rows(2)] }));
    await both(engine, WRITE, WRITE);
    await Promise.all([engine.execute(READ, []), engine.execute(READ, [])]);
    const checked = () =>
      runTogether(
        () => engine.execute(READ, [], () => {}),
        () => {},
      );
    await Promise.all([checked(), checked()]);
    expect(sent).toEqual([]);
    expect(events.filter((each) => each.includes(':'))).toHaveLength(6);
    const { engine: plain, events: alone } = openPool();
    await both(plain, READ, READ);
    expect(alone.filter((each) => each.includes(':'))).toHaveLength(2);
  });

  test('are sent alone if there is only one', async () => {
    const { engine, events, sent } = openSharing(async () => ({ results: [rows(1)] }));
    expect(outcomes(await both(engine, READ))).toEqual([{ rows: [], affected: 1 }]);
    expect(sent).toEqual([]);
    expect(events).toEqual(['open', `1: ${READ}`, '1 back']);
  });

  test('fail alone: the others run again', async () => {
    const { engine, events } = openSharing(async () => ({ failed: 1, error: REFUSED }));
    expect(outcomes(await both(engine, 'SELECT 1', 'SELECT 2', 'SELECT 3'))).toEqual([
      { rows: [], affected: 1 },
      REFUSED,
      { rows: [], affected: 1 },
    ]);
    expect(events.slice(0, 2)).toEqual(['open', '1 back']);
    expect(events.filter((each) => each.includes(':'))).toEqual(['1: SELECT 1', '2: SELECT 3']);
  });

  test.each([
    ['an answer', async () => ({ failed: 0, error: READ_ONLY })],
    ['an exception', () => Promise.reject(READ_ONLY)],
  ] as const)('close a connection to a server that %s shows to be read-only', async (_, answer) => {
    READ_ONLY.stack = 'at socket';
    const { engine, events } = openSharing(answer);
    expect(outcomes(await both(engine, 'SELECT 1', 'SELECT 2'))[0]).toBe(READ_ONLY);
    expect(events.slice(0, 2)).toEqual(['open', '1 closed']);
    expect(READ_ONLY.stack).not.toContain('at socket');
  });

  test('all fail if their connection fails, or if it has a foreign transaction', async () => {
    const { engine, server, events } = openSharing(async () =>
      server.fails === null ? { results: [rows(1), rows(2)] } : Promise.reject(server.fails),
    );
    server.fails = BROKEN;
    expect(outcomes(await both(engine, 'SELECT 1', 'SELECT 2'))).toEqual([BROKEN, BROKEN]);
    server.fails = null;
    server.idle = false;
    const foreign = { message: 'The application left a transaction open on this connection' };
    expect(outcomes(await both(engine, 'SELECT 1', 'SELECT 2'))).toMatchObject([foreign, foreign]);
    expect(events).toEqual(['open', '1 closed', '2 closed']);
  });
});

test('a count of a driver is a number or unknown', () => {
  expect([numberOrNull(0), numberOrNull('1'), numberOrNull(undefined)]).toEqual([0, null, null]);
});
