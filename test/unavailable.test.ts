// @engines servers: a database server refuses connections and statements
import { openDatabase, type OpenedDatabase } from 'portico';
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  inject,
  onTestFinished,
  test,
} from 'vitest';
import { openApplicationPool } from './support/application-pool.ts';
import {
  createDatabase,
  LOOKING_AT_LOCKS,
  someoneWaits,
  type TestDatabase,
} from './support/database.ts';
import { createTimer } from './support/timer.ts';

/**
 * Every refusal here comes from the server itself, except those that a single server never makes,
 * which are raised.
 */
let store: TestDatabase;
let other: OpenedDatabase;
const isPostgres = inject('databaseServer')?.startsWith('postgres') === true;

beforeAll(async () => {
  store = await createDatabase('');
  other = openDatabase(store.url, { directory: '/' });
  await other.execute('CREATE TABLE things (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)');
});
afterAll(async () => {
  await other.close();
  await store.drop();
});
beforeEach(async () => {
  await other.execute('DELETE FROM things');
  await other.execute('INSERT INTO things (id, n) VALUES (1, 0), (2, 0)');
});

type On = Pick<OpenedDatabase, 'execute'>;
const add = (id: number, on: On) => on.execute('UPDATE things SET n = n + 1 WHERE id = ?', [id]);
const numbersOn = async (on: On) =>
  (await on.execute<{ n: number }>('SELECT n FROM things ORDER BY id')).rows.map(({ n }) => n);
const numbers = () => numbersOn(other);

function open(options: Partial<Parameters<typeof openDatabase>[1]> = {}): OpenedDatabase {
  // Transactions here wait for each other, also on a machine under load.
  const opened = openDatabase(store.url, {
    directory: '/',
    transactionIdleTimeout: 60,
    ...options,
  });
  onTestFinished(() => opened.close());
  return opened;
}

const identity = isPostgres ? 'pg_backend_pid()' : 'CONNECTION_ID()';
const identityOf = async (on: On) =>
  (await on.execute<{ id: number }>(`SELECT ${identity} AS id`)).rows[0]?.id ?? 0;

const failureOf = (statement: Promise<unknown>): Promise<unknown> =>
  statement.then(
    () => null,
    (error: unknown) => error,
  );

/** Another session locks the first row meanwhile. */
async function whileLocked<T>(work: () => Promise<T>): Promise<T> {
  const [locked, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const locking = other.withoutTimeout().transaction(async (on) => {
    await add(1, on);
    locked.resolve();
    await done.promise;
    throw new Error('undone');
  });
  locking.catch(() => {});
  await locked.promise;
  try {
    return await work();
  } finally {
    done.resolve();
    await failureOf(locking);
  }
}

const raised = (code: string | number, message = 'raised') =>
  isPostgres
    ? `DO $$ BEGIN RAISE EXCEPTION '${message}' USING ERRCODE = '${code}'; END $$`
    : `SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = ${code}, MESSAGE_TEXT = '${message}'`;

/** As MySQL reports it for a table; 165 is the reason. */
const CANNOT_LOCK = "Can''t lock file (errno: 165 - Table is read only)";

type Refusal = readonly [string, string | number, (on: On) => Promise<unknown>];

/** They certainly had no effect. Each is tried by a statement and in a transaction. */
const REFUSED: readonly Refusal[] = isPostgres
  ? [
      ['the time limit of the session', '57014', (on) => on.execute('SELECT pg_sleep(60)')],
      [
        'a row that a different session has locked',
        '55P03',
        (on) => on.execute('SELECT id FROM things WHERE id = 1 FOR UPDATE NOWAIT'),
      ],
      ['a transaction that waited too long', '25P03', (on) => on.execute(raised('25P03'))],
      ['a transaction that took too long', '25P04', (on) => on.execute(raised('25P04'))],
      ['too many connections', '53300', (on) => on.execute(raised('53300'))],
      ['a full disk', '53100', (on) => on.execute(raised('53100'))],
    ]
  : [
      ['the time limit of the session', 1969, (on) => on.execute('SELECT SLEEP(60)')],
      [
        'a row that a different session has locked',
        1205,
        (on) => on.execute('SELECT id FROM things WHERE id = 1 FOR UPDATE NOWAIT'),
      ],
      ['the time limit of MySQL', 3024, (on) => on.execute(raised(3024))],
      ['too many connections', 1040, (on) => on.execute(raised(1040))],
      ['too many failed connections of a machine', 1129, (on) => on.execute(raised(1129))],
      ['a full disk', 1021, (on) => on.execute(raised(1021))],
      ['full memory', 1041, (on) => on.execute(raised(1041))],
      ['too many threads', 1135, (on) => on.execute(raised(1135))],
      ['too many locks', 1206, (on) => on.execute(raised(1206))],
      ['too many transactions', 1637, (on) => on.execute(raised(1637))],
      ['MySQL that was taken offline', 3032, (on) => on.execute(raised(3032))],
      [
        'too many connections of an account, by the server limit',
        1203,
        (on) => on.execute(raised(1203)),
      ],
      [
        'too many connections of an account, by the account limit',
        1226,
        (on) => on.execute(raised(1226)),
      ],
      [
        'an administrator who ends the statement',
        1317,
        (on) => on.execute('KILL QUERY CONNECTION_ID()'),
      ],
      ['a locked row in MySQL, with NOWAIT', 3572, (on) => on.execute(raised(3572))],
      ['a read-only schema in MySQL', 1836, (on) => on.execute(raised(1836))],
      ['read-only InnoDB in MySQL', 1015, (on) => on.execute(raised(1015, CANNOT_LOCK))],
    ];

/**
 * Whether it took effect is unknown: the server ends the connection, has lost its cluster, or
 * failed in the commit.
 */
const UNKNOWN: readonly (readonly [string, string | number])[] = isPostgres
  ? [
      ['a server that ends the connection', '57P01'],
      ['a connection that failed', '08006'],
      ['a disk error', '58030'],
      ['a missing file of the database', '58P01'],
      ['a statement with unknown completion', '40003'],
    ]
  : [
      ['a node that has lost its cluster', 1047],
      ['a commit that failed', 1180],
      ['a member of a MySQL group whose group does not answer', 3100],
      ['a server that is shutting down', 1053],
      ['MySQL that closes an unused connection', 4031],
      ['a proxy that has lost its server', 2006],
      ['ProxySQL that has no server', 9001],
      ['a proxy that has lost its server during the statement', 2013],
      ['a proxy that cannot connect to its server', 2003],
    ];

const code = (expected: string | number) => (isPostgres ? { code: expected } : { errno: expected });

describe('a statement that the database server refuses', () => {
  // @shows AS-18.21
  test.each(REFUSED)(
    'for %s (%s) is unavailable, and the connection is closed',
    async (_, expected, refuse) => {
      await whileLocked(async () => {
        const database = open({ statementTimeout: 1, poolSize: 1 });
        for (const ask of [
          () => refuse(database),
          () => database.transaction((on) => refuse(on)),
        ]) {
          const before = await identityOf(database);
          const failure = await failureOf(ask());
          expect(failure).toMatchObject(code(expected));
          expect(database.isUnavailable(failure)).toBe(true);
          expect(await identityOf(database)).not.toBe(before);
        }
        expect(database.retries).toEqual({ statements: 0, transactions: 0 });
      });
    },
  );

  // @shows AS-18.9
  test.each(REFUSED)('for %s (%s) needs no check of its effect', async (_, _code, refuse) => {
    await whileLocked(async () => {
      const database = open({ statementTimeout: 1 });
      let asked = 0;
      // The same statement, with a question about its effect.
      const asking: On = {
        execute: (sql, parameters) =>
          database.execute(sql, parameters, async () => {
            asked += 1;
            return true;
          }),
      };
      expect(database.isUnavailable(await failureOf(refuse(asking)))).toBe(true);
      expect(asked).toBe(0);
    });
  });

  // @shows AS-18.9
  test.each(UNKNOWN)(
    'with the error of %s (%s) has an unknown effect, which is then checked',
    async (_, number) => {
      const database = open();
      const statement = raised(number);
      await expect(database.execute(statement, [], async () => true)).resolves.toEqual({
        rows: [],
        affected: 1,
      });
      const failures = [
        await failureOf(database.execute(statement, [], async () => false)),
        await failureOf(database.execute(statement)),
        await failureOf(database.transaction((on) => on.execute(statement))),
      ];
      expect(failures.map((failure) => database.isUnavailable(failure))).toEqual([
        true,
        true,
        true,
      ]);
    },
  );

  test.each<string | number>(
    isPostgres ? ['42501', 'P0001', '23505', '0A000'] : [1142, 1644, 1062, 1015],
  )('for a different reason (%s) is a fault, and the connection stays open', async (number) => {
    const database = open();
    const before = await identityOf(database);
    const failure = await failureOf(database.execute(raised(number), [], async () => true));
    expect(failure).toMatchObject(code(number));
    expect(database.isUnavailable(failure)).toBe(false);
    expect(database.retries).toEqual({ statements: 0, transactions: 0 });
    expect(await identityOf(database)).toBe(before);
  });
});

test.each(isPostgres ? [] : ['MariaDB'])(
  'a statement larger than %s allows fails, and the next statement of the pool succeeds',
  async () => {
    const database = open({ poolSize: 1 });
    const { rows } = await database.execute<{ most: number }>(
      'SELECT @@max_allowed_packet AS most',
    );
    const tooLarge = database.execute('SELECT ?', ['x'.repeat(rows[0]?.most ?? 0)]);
    await expect(tooLarge).rejects.toMatchObject({ errno: 1153 });
    await add(1, database);
    expect(await numbers()).toEqual([1, 0]);
  },
);

/** How to make an account that may have one connection, and the error of its second one. */
const ONE_CONNECTION = isPostgres
  ? {
      told: '53300',
      account: (name: string) => name,
      create: (account: string) => [`CREATE ROLE ${account} LOGIN CONNECTION LIMIT 1`],
      kind: 'ROLE',
    }
  : {
      told: 1226,
      account: (name: string) => `${name}@localhost`,
      create: (account: string, name: string) => [
        `CREATE USER ${account} WITH MAX_USER_CONNECTIONS 1`,
        `GRANT ALL ON ${name}.* TO ${account}`,
      ],
      kind: 'USER',
    };

// @shows AS-18.21
test(`a statement of an account at its connection limit (${ONE_CONNECTION.told}) is unavailable`, async () => {
  const { told, account, create, kind } = ONE_CONNECTION;
  const name = new URL(store.url).pathname.slice(1);
  for (const statement of create(account(name), name)) await other.execute(statement);
  onTestFinished(async () => void (await other.execute(`DROP ${kind} ${account(name)}`)));
  const url = new URL(store.url);
  url.username = name;
  const database = openDatabase(url.href, { directory: '/' });
  onTestFinished(() => database.close());
  await database.transaction(async (on) => {
    await on.execute('SELECT 1');
    const second = openDatabase(url.href, { directory: '/' });
    onTestFinished(() => second.close());
    const failure = await failureOf(second.execute('SELECT 1'));
    expect(failure).toMatchObject(code(told));
    expect(second.isUnavailable(failure)).toBe(true);
  });
});

// @shows AS-18.18
test.each(isPostgres ? [] : ['MariaDB'])(
  'a request that gets no connection within 5 seconds is unavailable, and never runs, on %s',
  async () => {
    const timer = createTimer();
    const database = open({ poolSize: 1, timer });
    const [held, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holding = database.transaction(async (on) => {
      await add(1, on);
      held.resolve();
      await done.promise;
    });
    await held.promise;
    const failures = [failureOf(add(2, database)), failureOf(database.transaction(numbersOn))];
    await expect.poll(() => database.connections()?.waiting).toBe(2);
    timer.advance(5000);
    for (const failure of failures) expect(database.isUnavailable(await failure)).toBe(true);
    done.resolve();
    await holding;
    await add(1, database);
    expect(await numbers()).toEqual([2, 0]);
  },
);

describe('work that was rolled back by a conflict', () => {
  test('runs again as a transaction, and is counted', async () => {
    const database = open();
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const work = async (ids: readonly [number, number], here: typeof first, there: typeof first) =>
      database.transaction(async (on) => {
        await add(ids[0], on);
        here.resolve();
        await there.promise;
        await add(ids[1], on);
      });
    await Promise.all([work([1, 2], first, second), work([2, 1], second, first)]);
    expect(await numbers()).toEqual([2, 2]);
    expect(database.retries.transactions).toBeGreaterThan(0);
    expect(database.retries.statements).toBe(0);
  });

  test('runs again as a single statement, and is counted', async () => {
    const database = open();
    const backwards = isPostgres
      ? 'UPDATE things SET n = n + 1 WHERE id IN (SELECT id FROM things ORDER BY id DESC FOR UPDATE)'
      : 'UPDATE things SET n = n + 1 WHERE id IN (1, 2) ORDER BY id DESC';
    const begun = Promise.withResolvers<void>();
    const watching = open();
    const forwards = other.withoutTimeout().transaction(async (on) => {
      // The engine chooses the transaction with less work as the deadlock's victim.
      for (let id = 10; id < 30; id += 1)
        await on.execute('INSERT INTO things (id, n) VALUES (?, 0)', [id]);
      await add(1, on);
      begun.resolve();
      await expect.poll(() => someoneWaits(watching), LOOKING_AT_LOCKS).toBe(true);
      await add(2, on);
    });
    await begun.promise;
    await Promise.all([database.execute(backwards), forwards]);
    expect((await numbers()).slice(0, 2)).toEqual([2, 2]);
    expect(database.retries).toEqual({ statements: 1, transactions: 0 });
  });

  test.each<string | number>(isPostgres ? ['40001', '40P01'] : [1213, 3101])(
    '(%s) repeatedly is unavailable',
    async (number) => {
      const database = open();
      for (const ask of [
        () => database.execute(raised(number)),
        () => database.transaction((on) => on.execute(raised(number))),
      ])
        expect(database.isUnavailable(await failureOf(ask()))).toBe(true);
      expect(database.retries).toEqual({ statements: 4, transactions: 4 });
    },
  );

  test.each(isPostgres ? ['PostgreSQL'] : [])(
    'after a read runs again on %s, with the current values',
    async () => {
      const database = open();
      const read: number[] = [];
      await database.transaction(async (on) => {
        await on.execute('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
        const { rows } = await on.execute<{ n: number }>('SELECT n FROM things WHERE id = 1');
        read.push(rows[0]?.n ?? -1);
        if (read.length === 1) await add(1, other);
        await add(1, on);
      });
      expect(read).toEqual([0, 1]);
      expect(database.retries.transactions).toBe(1);
    },
  );
});

/** The server limits that a session sets for itself. */
const SETTINGS = isPostgres
  ? `SELECT current_setting('statement_timeout') AS statement,
      current_setting('idle_in_transaction_session_timeout') AS idle`
  : `SELECT @@SESSION.max_statement_time AS statement, @@SESSION.innodb_lock_wait_timeout AS wait,
      @@SESSION.lock_wait_timeout AS metadata, @@SESSION.wsrep_sync_wait AS sync`;
const settingsOf = async (on: On) => (await on.execute(SETTINGS)).rows[0];

describe('a database session', () => {
  // @shows AS-18.21, AS-18.23
  test('of the server has a time limit per statement, and that of a migration has none', async () => {
    const database = open({ statementTimeout: 7 });
    const limited = isPostgres
      ? { statement: '7s', idle: '67s' }
      : { statement: 7, wait: 7, metadata: 7, sync: 7 };
    expect(await settingsOf(database)).toEqual(limited);
    expect(await database.transaction(settingsOf)).toEqual(limited);
    const free = isPostgres
      ? { statement: '0', idle: '0' }
      : { statement: 0, wait: 50, metadata: 86_400, sync: 7 };
    expect(await settingsOf(database.withoutTimeout())).toEqual(free);
    expect(await database.withoutTimeout().transaction(settingsOf)).toEqual(free);
    expect(await settingsOf(open())).toMatchObject({ statement: isPostgres ? '10s' : 10 });
  });

  // @shows AS-18.21
  test('keeps smaller limits of the database server', async () => {
    const created = await createDatabase('');
    onTestFinished(() => created.drop());
    const url = new URL(created.url);
    const name = url.pathname.slice(1);
    if (isPostgres) {
      await other.execute(`ALTER DATABASE ${name} SET statement_timeout = '1500ms'`);
      await other.execute(
        `ALTER DATABASE ${name} SET idle_in_transaction_session_timeout = '1min'`,
      );
    } else {
      // Those of the account, because other tests use the same server.
      await other.execute(`CREATE USER ${name}@localhost WITH MAX_STATEMENT_TIME 1.5`);
      onTestFinished(async () => void (await other.execute(`DROP USER ${name}@localhost`)));
      await other.execute(`GRANT ALL ON ${name}.* TO ${name}@localhost`);
      url.username = name;
    }
    const database = openDatabase(url.href, { directory: '/' });
    onTestFinished(() => database.close());
    const limited = isPostgres
      ? { statement: '1500ms', idle: '12s' }
      : { statement: 1.5, wait: 10 };
    expect(await settingsOf(database)).toMatchObject(limited);
    expect(await settingsOf(database.withoutTimeout())).toMatchObject({
      statement: isPostgres ? '0' : 0,
    });
  });

  // @shows AS-18.17
  test('of the pool of the application keeps its limits', async () => {
    const pool = openApplicationPool(store.url, 1);
    onTestFinished(() => pool.end());
    const borrowed = pool.borrow();
    const before = isPostgres
      ? { statement: '20s', idle: '0' }
      : { statement: 0, wait: 50, metadata: 86_400, sync: 0 };
    expect(await settingsOf(borrowed)).toEqual(before);
    expect(await borrowed.transaction(settingsOf)).toEqual(before);
  });

  // @shows AS-18.21
  test('cancels a statement that waits too long for a lock, which then never takes effect', async () => {
    const database = open({ statementTimeout: 1 });
    const failure = await whileLocked(() => failureOf(add(1, database)));
    expect(database.isUnavailable(failure)).toBe(true);
    expect(failure).toHaveProperty(isPostgres ? 'code' : 'errno');
    expect(await numbers()).toEqual([0, 0]);
    await add(1, database);
    expect(await numbers()).toEqual([1, 0]);
  });

  // @shows AS-18.21
  test.each(isPostgres ? ['PostgreSQL'] : [])(
    'with an abandoned transaction is closed by %s, and rolled back',
    async () => {
      const database = open({ poolSize: 1 });
      const failure = await failureOf(
        database.transaction(async (on) => {
          const id = await identityOf(on);
          await add(1, on);
          await on.execute("SET LOCAL idle_in_transaction_session_timeout = '1ms'");
          const alive = async () =>
            (await other.execute('SELECT 1 FROM pg_stat_activity WHERE pid = ?', [id])).rows.length;
          await expect.poll(alive, { interval: 5 }).toBe(0);
          await add(2, on);
        }),
      );
      expect(database.isUnavailable(failure)).toBe(true);
      expect(await numbers()).toEqual([0, 0]);
      await add(1, database);
    },
  );
});
