// @engines servers: it makes a database server read-only, which is not possible with SQLite
import { openDatabase, type OpenedDatabase } from 'portico';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { openApplicationPool } from './support/application-pool.ts';
import { createDatabase } from './support/database.ts';
import { MARIADB, POSTGRES, type DatabaseServer } from './support/engines/database-server.ts';
import { createClock } from './support/clock.ts';
import { registerClient, requestToken, startPortal } from './support/portal.ts';

/** Makes its own server read-only, as a failover does with the old primary. */
let server: DatabaseServer;
let administrator: OpenedDatabase;
/** An ordinary account, without the privilege to write to a read-only server. */
let asApplication: string;
const isPostgres = inject('databaseServer')?.startsWith('postgres') === true;

beforeAll(async () => {
  server = await (isPostgres ? POSTGRES : MARIADB).start();
  administrator = openDatabase(server.url, { directory: '/' });
  const url = new URL(server.url);
  if (!isPostgres) {
    await administrator.execute('CREATE USER application@localhost');
    await administrator.execute('GRANT ALL ON `portico\\_%`.* TO application@localhost');
    url.username = 'application';
    url.pathname = '/information_schema';
  }
  asApplication = url.href;
});
afterAll(async () => {
  await administrator.close();
  await server.close();
});

async function becomeReadOnly(): Promise<void> {
  onTestFinished(becomeWritable);
  if (isPostgres) await setDefault('on');
  else await administrator.execute('SET GLOBAL read_only = 1');
}

async function becomeWritable(): Promise<void> {
  if (isPostgres) await setDefault('off');
  else await administrator.execute('SET GLOBAL read_only = 0');
}

async function setDefault(readOnly: 'on' | 'off'): Promise<void> {
  await administrator.execute(`ALTER SYSTEM SET default_transaction_read_only = ${readOnly}`);
  await administrator.execute('SELECT pg_reload_conf()');
}

async function openOwn(
  options: Partial<Parameters<typeof openDatabase>[1]> = {},
): Promise<OpenedDatabase> {
  const created = await createDatabase('', asApplication);
  const database = openDatabase(created.url, { directory: '/', ...options });
  onTestFinished(async () => {
    await database.close();
    await created.drop();
  });
  return database;
}

/** On the pool of an application. */
async function openBorrowed(): Promise<OpenedDatabase> {
  const created = await createDatabase('', asApplication);
  const pool = openApplicationPool(created.url, 1);
  onTestFinished(async () => {
    await pool.end();
    await created.drop();
  });
  return pool.borrow();
}

const identityOf = async (on: Pick<OpenedDatabase, 'execute'>) => {
  const identity = isPostgres ? 'pg_backend_pid()' : 'CONNECTION_ID()';
  return (await on.execute<{ id: number }>(`SELECT ${identity} AS id`)).rows[0]?.id;
};

const failureOf = (statement: Promise<unknown>): Promise<unknown> =>
  statement.then(
    () => null,
    (error: unknown) => error,
  );

describe('a primary that became read-only', () => {
  // @shows AS-18.12
  test('makes endpoints return 503 with Retry-After until writes work again', async () => {
    const portal = await startPortal({ databaseServer: asApplication });
    onTestFinished(() => portal.close());
    const client = await registerClient(portal, {
      redirectUris: [],
      grants: ['client_credentials'],
      scopes: ['notes:read'],
    });
    const ask = () => requestToken(portal, client, { grant_type: 'client_credentials' });
    const status = async () => (await ask()).status;
    expect(await status()).toBe(200);
    await becomeReadOnly();
    await expect.poll(status).toBe(503);
    const refused = await ask();
    expect(await refused.json()).toMatchObject({ error: 'temporarily_unavailable' });
    expect(refused.headers.get('Retry-After')).not.toBeNull();
    await becomeWritable();
    await expect.poll(status).toBe(200);
  });

  // @shows AS-29.3
  test('is reported as not ready until writes work, although reads work', async () => {
    const clock = createClock();
    const portal = await startPortal({ databaseServer: asApplication, clock: clock.now });
    onTestFinished(() => portal.close());
    const probe = async () => {
      clock.advance(2);
      const response = await fetch(`${portal.url}/health/ready`);
      return [response.status, await response.json()];
    };
    const ready = [200, { status: 'ready', checks: { store: 'ok', schema: 'ok', key: 'ok' } }];
    expect(await probe()).toEqual(ready);
    await becomeReadOnly();
    const checks = { store: 'failing', schema: 'ok', key: 'ok' };
    await expect.poll(probe).toEqual([503, { status: 'not_ready', checks }]);
    await becomeWritable();
    await expect.poll(probe).toEqual(ready);
  });

  // @shows AS-18.12
  test.each([
    ['a statement', 'our own', openOwn],
    ['a transaction', 'our own', openOwn],
    ['a statement', "the application's own", openBorrowed],
    ['a transaction', "the application's own", openBorrowed],
  ] as const)(
    'makes Portico close the connection on which %s failed, from %s pool',
    async (kind, _, openStore) => {
      const database = await openStore();
      await database.execute('CREATE TABLE t (n INTEGER)');
      const insert = (on: Pick<OpenedDatabase, 'execute'>) =>
        on.execute('INSERT INTO t VALUES (1)');
      const write = () =>
        kind === 'a statement' ? insert(database) : database.transaction(insert);
      await becomeReadOnly();
      // PostgreSQL's processes reload their settings with a delay.
      const before: unknown[] = [];
      const failing = async () => {
        before.push(await identityOf(database));
        return failureOf(write());
      };
      await expect.poll(failing).toMatchObject(isPostgres ? { code: '25006' } : { errno: 1290 });
      expect(database.isUnavailable(await failureOf(write()))).toBe(true);
      expect(await identityOf(database)).not.toBe(before.at(-1));
    },
  );

  // @shows AS-18.12
  test('makes Portico close every connection opened before the failure was noticed', async () => {
    const database = await openOwn({ poolSize: 3, transactionIdleTimeout: 60 });
    await database.execute('CREATE TABLE t (n INTEGER)');
    const identities = async () => {
      const [all, begun] = [Promise.withResolvers<void>(), new Set<unknown>()];
      const one = async (on: Pick<OpenedDatabase, 'execute'>) => {
        begun.add(await identityOf(on));
        if (begun.size === 3) all.resolve();
        await all.promise;
      };
      await Promise.all([1, 2, 3].map(() => database.transaction(one)));
      return begun;
    };
    const before = await identities();
    await becomeReadOnly();
    const failing = () => failureOf(database.execute('INSERT INTO t VALUES (1)'));
    await expect.poll(failing).toBeInstanceOf(Error);
    expect([...(await identities())].filter((id) => before.has(id))).toEqual([]);
  });

  // @shows AS-18.12
  test.each(isPostgres ? [] : ['MariaDB'])(
    'is recognized if it is %s with a read-only InnoDB, which reports this for each table',
    async () => {
      const database = await openOwn();
      await database.execute('CREATE TABLE t (n INTEGER)');
      const insert = (on: Pick<OpenedDatabase, 'execute'>) =>
        on.execute('INSERT INTO t VALUES (1)');
      await server.end();
      await server.restart('--innodb-read-only');
      onTestFinished(async () => {
        await server.end();
        await server.restart();
      });
      for (const write of [() => insert(database), () => database.transaction(insert)]) {
        const failure = await failureOf(write());
        expect(failure).toMatchObject({ errno: 1036 });
        expect(database.isUnavailable(failure)).toBe(true);
      }
    },
  );

  // @shows AS-18.12
  test.each(isPostgres ? [] : ['MariaDB'])(
    'is recognized if it is %s whose new sessions are read-only, until writes work',
    async () => {
      const database = await openOwn();
      await database.execute('CREATE TABLE t (n INTEGER)');
      const insert = (on: Pick<OpenedDatabase, 'execute'>) =>
        on.execute('INSERT INTO t VALUES (1)');
      const writes = [() => insert(database), () => database.transaction(insert)];
      await administrator.execute('SET GLOBAL tx_read_only = 1');
      onTestFinished(async () => void (await administrator.execute('SET GLOBAL tx_read_only = 0')));
      // A statement that changes the session makes Portico close its connection.
      await database.execute('SET NAMES utf8mb4');
      for (const write of writes) {
        const failure = await failureOf(write());
        expect(failure).toMatchObject({ errno: 1792 });
        expect(database.isUnavailable(failure)).toBe(true);
      }
      await administrator.execute('SET GLOBAL tx_read_only = 0');
      for (const write of writes) await write();
    },
  );

  test('is distinguished from a server on which a privilege or option forbids writes', async () => {
    const database = await openOwn();
    const forbidden = isPostgres
      ? "DO $$ BEGIN RAISE EXCEPTION 'not you' USING ERRCODE = '42501'; END $$"
      : `SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1290, MESSAGE_TEXT =
          'The MariaDB server is running with the --secure-file-priv option so it cannot execute this statement'`;
    const before = await identityOf(database);
    const failure = await failureOf(database.execute(forbidden));
    expect(failure).toBeInstanceOf(Error);
    expect(database.isUnavailable(failure)).toBe(false);
    expect(await identityOf(database)).toBe(before);
  });

  // @shows AS-18.12
  test('is treated like a server that reports it cannot serve, such as a cut-off Galera node', async () => {
    const database = await openOwn();
    const before = await identityOf(database);
    // A single server is not a cluster, so it must raise the error of a node outside of one.
    const failure = await failureOf(
      database.execute(
        isPostgres
          ? "DO $$ BEGIN RAISE EXCEPTION 'cannot serve' USING ERRCODE = '57P03'; END $$"
          : "SIGNAL SQLSTATE '08S01' SET MYSQL_ERRNO = 1047",
      ),
    );
    expect(failure).toMatchObject(isPostgres ? { code: '57P03' } : { errno: 1047 });
    expect(database.isUnavailable(failure)).toBe(true);
    expect(await identityOf(database)).not.toBe(before);
  });
});

describe.each(
  isPostgres
    ? []
    : ([
        ['our own', openOwn],
        ["the application's own", openBorrowed],
      ] as const),
)('on %s pool, a write is committed', (_, openStore) => {
  // @shows AS-18.15, AS-18.18
  test.each([
    ['begin without autocommit', 'autocommit', 0, 1],
    ['begin a transaction after each commit', 'completion_type', 1, 0],
  ])('even if sessions of the server %s', async (__, name, value, usual) => {
    const set = (to: number) => administrator.execute(`SET GLOBAL ${name} = ${to}`);
    await set(value);
    onTestFinished(async () => void (await set(usual)));
    const database = await openStore();
    await database.execute('CREATE TABLE t (n INTEGER)');
    await database.transaction((on) => on.execute('INSERT INTO t VALUES (1)'));
    await database.execute('INSERT INTO t VALUES (2)');
    const { rows } = await database.execute<{ name: string }>('SELECT DATABASE() AS name');
    const seen = await administrator.execute(`SELECT n FROM ${rows[0]?.name}.t ORDER BY n`);
    expect(seen.rows).toEqual([{ n: 1 }, { n: 2 }]);
  });

  // @shows AS-18.15, AS-18.17
  test('and all rows are read and written, even if sessions begin with limits for interactive use', async () => {
    const database = await openStore();
    const limits = [
      ['sql_select_limit', '1', '18446744073709551615'],
      ['max_join_size', '1', '18446744073709551615'],
      ['sql_safe_updates', '1', '0'],
    ] as const;
    for (const [name, value, usual] of limits) {
      await administrator.execute(`SET GLOBAL ${name} = ${value}`);
      onTestFinished(async () => {
        await administrator.execute(`SET GLOBAL ${name} = ${usual}`);
      });
    }
    await database.execute('CREATE TABLE t (n INTEGER)');
    await database.execute('INSERT INTO t VALUES (1), (2)');
    expect((await database.execute('UPDATE t SET n = n + 1')).affected).toBe(2);
    const { rows } = await database.execute('SELECT a.n FROM t a JOIN t b ORDER BY a.n');
    expect(rows).toEqual([{ n: 2 }, { n: 2 }, { n: 3 }, { n: 3 }]);
  });
});

describe('a connection to the database', () => {
  // @shows AS-18.12
  test('is used until the end of its lifetime, and then replaced', async () => {
    let now = 0;
    const timer = { now: () => now, after: () => () => {} };
    const database = await openOwn({ connectionLifetime: 60, timer });
    const first = await identityOf(database);
    // Not all of them end at once, but none before nine tenths of the time.
    now = 53_000;
    expect(await identityOf(database)).toBe(first);
    now = 60_001;
    const second = await identityOf(database);
    expect(second).not.toBe(first);
    expect(await database.transaction(identityOf)).toBe(second);
    now = 120_002;
    expect(await database.transaction(identityOf)).not.toBe(second);
  });

  test('with an open transaction stays open until the transaction ends', async () => {
    let now = 0;
    const timer = { now: () => now, after: () => () => {} };
    const database = await openOwn({ connectionLifetime: 60, timer });
    await database.transaction(async (on) => {
      const before = await identityOf(on);
      now = 1_000_000;
      expect(await identityOf(on)).toBe(before);
    });
  });
});
