import { mkdtempSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { inspect } from 'node:util';
import { startApplication } from '@portico/kit';
import mysql from 'mysql2/promise';
import { fromMysql, fromPostgres, fromSqlite, openDatabase, type OpenedDatabase } from 'portico';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  inject,
  onTestFinished,
  test,
} from 'vitest';
import { openApplicationPool, type ApplicationPool } from './support/application-pool.ts';
import { createDatabase, type TestDatabase } from './support/database.ts';
import {
  ADA,
  callApi,
  obtainTokens,
  refresh,
  registerClient,
  startPortal,
} from './support/portal.ts';
import { createTimer } from './support/timer.ts';

/** Portico on the application's existing pool. */
let folder: string;
let store: TestDatabase;
let pool: ApplicationPool;
let database: OpenedDatabase;

const engine = inject('databaseServer')?.startsWith('postgres') === true ? 'postgres' : 'mysql';
const isSqlite = inject('databaseServer') === undefined;
/** Tests for server pools are declared only there. */
const ON_SERVERS = isSqlite ? [] : [engine];

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'portico-pool-'));
  store = await createDatabase(folder);
  const own = openApplicationPool(store.url);
  const opened = own.borrow();
  await opened.execute(
    'CREATE TABLE things (id INTEGER PRIMARY KEY, name VARCHAR(10) NOT NULL, at BIGINT)',
  );
  await opened.close();
  await own.end();
});
afterAll(async () => {
  await store.drop();
  rmSync(folder, { recursive: true });
});
beforeEach(async () => {
  // The pool has one connection. Code that needs a second one while it uses the first would wait
  // forever.
  pool = openApplicationPool(store.url, 1);
  database = pool.borrow();
  await database.execute('DELETE FROM things');
});
afterEach(async () => {
  await database.close();
  await pool.end();
});

const insert = (id: number, on: Pick<OpenedDatabase, 'execute'> = database) =>
  on.execute('INSERT INTO things (id, name, at) VALUES (?, ?, ?)', [id, 'a\\', 7_000_000_000_000]);
const all = async (on: Pick<OpenedDatabase, 'execute'> = database) =>
  (await on.execute('SELECT id, name, at FROM things ORDER BY id')).rows;
const thing = (id: number) => ({ id, name: 'a\\', at: 7_000_000_000_000 });

describe('a pool of the application', () => {
  // @shows AS-18.17
  test('returns the same results as a pool of Portico, with any driver and session settings', async () => {
    await insert(1);
    expect(await all()).toEqual([thing(1)]);
    const { rows: sums } = await database.execute<{ total: unknown }>(
      'SELECT SUM(at) AS total FROM things',
    );
    expect(Number(sums[0]?.total)).toBe(7_000_000_000_000);
    // The row matches, but does not change.
    const same = 'UPDATE things SET name = name WHERE id = 1';
    expect((await database.execute(same)).affected).toBe(1);
    await database.transaction(async (on) => {
      await insert(2, on);
      expect((await on.execute(same)).affected).toBe(1);
      expect(await all(on)).toEqual([thing(1), thing(2)]);
    });
    const other = openApplicationPool(store.url);
    onTestFinished(() => other.end());
    expect(await all(other.borrow())).toEqual([thing(1), thing(2)]);
  });

  test.each(ON_SERVERS)('refuses text that does not fit, on %s', async () => {
    const long = database.execute("INSERT INTO things (id, name) VALUES (1, '12345678901')");
    await expect(long).rejects.toThrow(/too long/i);
    expect(await all()).toEqual([]);
  });

  // @shows AS-19.2
  test('puts no value of a statement into its error, like a pool of Portico', async () => {
    const own = openDatabase(store.url, { directory: '/' });
    onTestFinished(() => own.close());
    for (const on of [database, own]) {
      const failed = on.execute('INSERT INTO nowhere (name) VALUES (?)', ['a secret']);
      const error: unknown = await failed.catch((failure: unknown) => failure);
      expect(error).toBeInstanceOf(Error);
      expect(inspect(error, { depth: 5 })).toMatch(/nowhere/);
      expect(inspect(error, { depth: 5 })).not.toMatch(/a secret/);
    }
  });

  // @shows AS-18.17
  test('gets its connections back with session, listeners and transaction state unchanged', async () => {
    const before = await pool.session();
    await insert(1);
    await database.execute('INSERT INTO nothing VALUES (1)').catch(() => {});
    await database.transaction((on) => insert(2, on));
    await database
      .transaction(async (on) => on.execute('INSERT INTO nothing VALUES (1)'))
      .catch(() => {});
    await database.withoutTimeout().transaction((on) => insert(3, on));
    expect(await pool.session()).toEqual(before);
    const [count] = await pool.ask('SELECT COUNT(*) AS n FROM things');
    const read = 'read by the application: 3';
    expect(count).toEqual(
      { sqlite: { n: 3 }, postgres: { n: read }, mysql: [read] }[database.dialect],
    );
  });

  // @shows AS-18.17
  test('stays open when Portico is closed, and Portico then refuses statements', async () => {
    await insert(1);
    await database.close();
    expect(await pool.ask('SELECT id FROM things')).toHaveLength(1);
    await expect(all()).rejects.toThrow('The database is closed');
  });

  test('can be opened several times, and each opened one can be closed separately', async () => {
    const again = pool.borrow().open();
    await insert(1, again);
    await again.close();
    expect(await all()).toEqual([thing(1)]);
  });

  test('is the same store inside a transaction, however often it was opened', async () => {
    const another = pool.borrow();
    const nested = database.transaction(async (on) => {
      await insert(1, on);
      await insert(2, isSqlite ? database : another);
    });
    await expect(nested).rejects.toMatchObject({ name: 'TransactionError', reason: 'inside' });
    expect(await all()).toEqual([]);
  });

  test.each(ON_SERVERS)(
    'does not see an open transaction of the application on a different connection, on %s',
    async () => {
      const other = openApplicationPool(store.url, 2);
      onTestFinished(() => other.end());
      const letGo = await other.keep('BEGIN', "INSERT INTO things (id, name) VALUES (9, 'theirs')");
      const borrowed = other.borrow();
      await insert(1, borrowed);
      expect(await all(borrowed)).toEqual([thing(1)]);
      letGo();
    },
  );

  // @shows AS-18.18
  test.each(ON_SERVERS)(
    'never lends a connection with an open transaction, so that all work is committed, on %s',
    async () => {
      for (const work of [() => insert(1), () => database.transaction((on) => insert(2, on))]) {
        const letGo = await pool.keep(
          'BEGIN',
          "INSERT INTO things (id, name) VALUES (9, 'theirs')",
        );
        letGo();
        await work();
      }
      const other = openApplicationPool(store.url);
      onTestFinished(() => other.end());
      expect(await all(other.borrow())).toEqual([thing(1), thing(2)]);
    },
  );

  // @shows AS-18.18
  test.each(ON_SERVERS)(
    'is unavailable after five seconds without a free connection, and then recovers, on %s',
    async () => {
      const timer = createTimer();
      const patient = pool.borrow({ timer });
      const letGo = await pool.keep();
      const failing = insert(1, patient);
      const beginning = patient.transaction((on) => insert(2, on));
      const failures = Promise.allSettled([failing, beginning]);
      await expect.poll(() => timer.waiting()).toBeGreaterThanOrEqual(2);
      timer.advance(5000);
      const unavailable = (await failures).map(
        (outcome) => outcome.status === 'rejected' && patient.isUnavailable(outcome.reason),
      );
      expect(unavailable).toEqual([true, true]);
      letGo();
      await insert(3, patient);
      expect(await all(patient)).toEqual([thing(3)]);
      await patient.close();
      await expect.poll(() => pool.busy()).toBe(0);
    },
  );
});

const ON_POSTGRES = engine === 'postgres' && !isSqlite ? ['postgres'] : [];

describe.each(ON_SERVERS)('a pool of the application on %s', (server) => {
  // @shows AS-18.17
  test('runs transactions at READ COMMITTED, with any default isolation level', async () => {
    const level =
      server === 'postgres' ? "current_setting('transaction_isolation')" : '@@SESSION.tx_isolation';
    const { rows } = await database.transaction((on) =>
      on.execute<{ level: string }>(`SELECT ${level} AS level`),
    );
    expect(rows[0]?.level.toLowerCase().replace('-', ' ')).toBe('read committed');
  });
});

describe.each(ON_SERVERS)('a pool of the application on %s', (server) => {
  // @shows AS-18.17
  test.each(
    server === 'mysql'
      ? [
          ['SET SESSION lock_wait_timeout = 7', 'SELECT @@SESSION.lock_wait_timeout'],
          ['USE information_schema', 'SELECT DATABASE()'],
        ]
      : [
          ['SET search_path TO nowhere', 'SHOW search_path'],
          [
            '/* ours */ set session characteristics as transaction read only',
            'SHOW default_transaction_read_only',
          ],
          ["SELECT set_config('search_path', 'nowhere', false)", 'SHOW search_path'],
          [
            "SELECT set_config('search_path', 'nowhere', false), set_config('lock_timeout', '1', true)",
            'SHOW search_path',
          ],
        ],
  )('does not get back a connection whose settings were changed by %s', async (change, show) => {
    const before = await pool.ask(show);
    await database.execute(change);
    expect(await pool.ask(show)).toEqual(before);
    await database.transaction((on) => on.execute(change));
    expect(await pool.ask(show)).toEqual(before);
  });
});

describe.each(ON_SERVERS.filter((server) => server === 'mysql'))(
  'a pool of the application on %s',
  () => {
    // @shows AS-18.17
    test('does not get back a connection on which a failed procedure left a transaction open', async () => {
      await database.execute(
        "CREATE PROCEDURE fails() BEGIN START TRANSACTION; SIGNAL SQLSTATE '45000'; END",
      );
      const before = await pool.session();
      await expect(database.execute('CALL fails()')).rejects.toMatchObject({ sqlState: '45000' });
      expect(await pool.session()).toEqual(before);
    });

    // @shows AS-18.17
    test.each([
      ['without its option queryFormat', { queryFormat: () => ({ sql: 'SELECT 1' }) }],
      ['whose charset is utf8mb4, not latin1', { charset: 'latin1' }],
    ])('is refused if it would change statements or text: %s', async (message, options) => {
      const given = mysql.createPool({ uri: store.url, ...options });
      onTestFinished(() => given.end());
      const refused = fromMysql(given);
      await expect(refused.execute('SELECT 1')).rejects.toThrow(message);
      await refused.close();
    });

    test('is refused if it is no pool of the driver', () => {
      expect(() => fromMysql({} as never)).toThrow(', or of mysql2/promise');
    });
  },
);

describe.each(ON_POSTGRES)('a pool of the application on %s', () => {
  // @shows AS-18.18
  test('drops a connection that broke while in use, and the process continues', async () => {
    const other = openApplicationPool(store.url, 1);
    onTestFinished(() => other.end());
    const [begun, gone] = [Promise.withResolvers<number>(), Promise.withResolvers<void>()];
    const broken = database
      .transaction(async (on) => {
        const { rows } = await on.execute<{ pid: number }>('SELECT pg_backend_pid() AS pid');
        begun.resolve(rows[0]?.pid ?? 0);
        await gone.promise;
        await on.execute('SELECT 1');
      })
      .catch((error: unknown) => error);
    const pid = await begun.promise;
    await other.ask(`SELECT pg_terminate_backend(${pid})`);
    await expect
      .poll(() => other.ask(`SELECT 1 FROM pg_stat_activity WHERE pid = ${pid}`))
      .toEqual([]);
    gone.resolve();
    expect(database.isUnavailable(await broken)).toBe(true);
    await insert(1);
    expect(await all()).toEqual([thing(1)]);
  });

  test.each([
    ['pg-native cannot be used', {}],
    ['without its option pipeline', { connection: { stream: {} }, pipeline: true }],
    [
      '8.11 or later; the connections of this pool lack functions that Portico needs',
      { connection: { stream: {} } },
    ],
  ])('is refused if its connections cannot be restored: %s', async (message, properties) => {
    const client = { ...properties, on() {}, removeListener() {}, release() {} };
    const given = fromPostgres({ connect: (done) => done(undefined, client) });
    await expect(given.execute('SELECT 1')).rejects.toThrow(message);
  });
});

describe.each(ON_SERVERS)(
  'a pool of the application that is closed while requests run, on %s',
  () => {
    // @shows AS-18.18
    test('has committed all confirmed work, and the rest fails as unavailable without hanging', async () => {
      const timer = createTimer();
      const ended = openApplicationPool(store.url, 2, 'read committed');
      const borrowed = ended.borrow({ timer });
      await insert(1, borrowed);
      const working = Array.from({ length: 40 }, (_, index) => {
        const id = index + 2;
        return index % 2 === 0
          ? insert(id, borrowed)
          : borrowed.transaction(async (on) => {
              await insert(id, on);
              await on.execute('UPDATE things SET at = 1 WHERE id = ?', [id]);
            });
      });
      const settled = Promise.allSettled(working);
      await working[0];
      await ended.end();
      // Some drivers do not reject the requests that wait for a connection.
      let isSettled = false;
      void settled.then(() => (isSettled = true));
      await expect.poll(() => isSettled || timer.waiting() > 0).toBe(true);
      timer.advance(5000);
      const outcomes = await settled;
      const reasons = outcomes.flatMap((outcome) =>
        outcome.status === 'rejected' ? [outcome.reason] : [],
      );
      // The test also lets time pass for a transaction that is still running.
      const isExpected = (reason: unknown) =>
        borrowed.isUnavailable(reason) || (reason as Error).name === 'TransactionError';
      expect(reasons.map((reason) => [String(reason), isExpected(reason)])).toEqual(
        reasons.map((reason) => [String(reason), true]),
      );
      const kept = (await all()).map((row) => row['id']);
      const fulfilled = outcomes.flatMap(({ status }, index) =>
        status === 'fulfilled' ? [index + 2] : [],
      );
      expect(kept).toEqual(expect.arrayContaining(fulfilled));
      const after = await insert(99, borrowed).then(
        () => null,
        (error: unknown) => error,
      );
      expect([String(after), borrowed.isUnavailable(after)]).toEqual([String(after), true]);
      await borrowed.close();
    });
  },
);

describe('an application with a pool of one connection', () => {
  const config = (schema: string) => (schema === '' ? {} : { database_schema: schema });

  // @shows AS-18.17, AS-18.10
  test.each(engine === 'postgres' && !isSqlite ? ['', 'portico'] : [''])(
    'completes an authorization while its host uses the same pool (schema: %j)',
    async (schema) => {
      const created = await createDatabase(folder);
      onTestFinished(() => created.drop());
      const single = openApplicationPool(created.url, 1);
      onTestFinished(() => single.end());
      const portal = await startPortal({ database: single.borrow(), config: config(schema) });
      onTestFinished(() => portal.close());
      const client = await registerClient(portal);
      const tokens = await obtainTokens(portal, client, ADA);
      expect((await callApi(portal, '/oauth/userinfo', tokens.access_token)).status).toBe(200);
      expect((await refresh(portal, client, tokens.refresh_token)).status).toBe(200);
      await portal.suspend(ADA);
      expect((await callApi(portal, '/oauth/userinfo', tokens.access_token)).status).toBe(401);
      await expect.poll(() => single.busy()).toBe(0);
    },
  );

  test('does not start with database settings that have no effect', async () => {
    const starting = startApplication(
      {
        directory: folder,
        database: pool.borrow(),
        config: {
          public_url: 'https://app.example',
          database_url: 'sqlite::memory:',
          database_pool_size: 3,
        },
      },
      { env: {} },
    );
    await expect(starting).rejects.toThrow(
      'database_url: has no effect, because the application passes its own database; remove it\n' +
        'database_pool_size: has no effect, because the application passes its own database; remove it',
    );
  });
});

describe('an SQLite connection of the application', () => {
  /** The application's own file, in the journal mode that SQLite has by default. */
  function openOwnFile() {
    const own = new DatabaseSync(path.join(mkdtempSync(path.join(folder, 'own-')), 'app.sqlite'));
    own.exec('CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT, at INTEGER)');
    const borrowed = fromSqlite(own);
    onTestFinished(async () => {
      await borrowed.close();
      own.close();
    });
    return { own, borrowed };
  }

  // @shows AS-18.17
  test('without WAL makes a write wait while the application reads', async () => {
    const { own, borrowed } = openOwnFile();
    expect(own.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'delete' });
    for (const write of [
      () => insert(1, borrowed),
      () => borrowed.transaction((on) => insert(2, on)),
    ]) {
      own.exec('BEGIN');
      own.prepare('SELECT id FROM things').all();
      let isWritten = false;
      const written = write().finally(() => (isWritten = true));
      for (let turn = 0; turn < 20; turn += 1) await setImmediate();
      expect(isWritten).toBe(false);
      own.exec('COMMIT');
      await written;
    }
    expect(await all(borrowed)).toEqual([thing(1), thing(2)]);
  });

  // @shows AS-18.5
  test('without WAL confirms a commit only after the removal of its journal is on the disk', async () => {
    const { borrowed } = openOwnFile();
    // SQLite syncs the folder of the journal only with EXTRA (3).
    expect((await borrowed.execute('PRAGMA synchronous')).rows).toEqual([{ synchronous: 3 }]);
  });

  test('to a database in memory is refused, because no other connection can reach it', () => {
    const own = new DatabaseSync(':memory:');
    onTestFinished(() => own.close());
    expect(() => fromSqlite(own)).toThrow(
      'database: is in memory, so only the connection that created it',
    );
  });

  test('of a different SQLite library is refused, because it does not see the same locks', () => {
    const own = new DatabaseSync(path.join(folder, 'other.sqlite'));
    onTestFinished(() => own.close());
    const other = {
      prepare: (sql: string) => own.prepare(sql),
      exec: (sql: string) => own.exec(sql),
    };
    expect(() => fromSqlite(other as unknown as DatabaseSync)).toThrow(
      'database: is not a DatabaseSync of node:sqlite',
    );
  });
});
