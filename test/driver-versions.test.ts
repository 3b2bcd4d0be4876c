// @engines servers: it uses several versions of each driver
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import mysql from 'mysql2/promise';
import pg from 'pg';
import * as host from '@portico/sql';
import type { BorrowedDatabase, DatabaseOptions, OpenedDatabase } from '@portico/sql';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { createDatabase, type TestDatabase } from './support/database.ts';
import { installWithFloor, type OtherInstallation } from './support/driver-versions.ts';
import { withExecute } from './support/opened-store.ts';
import { openWay } from './support/way.ts';
import {
  ADA,
  callApi,
  exchangeCode,
  obtainCode,
  obtainTokens,
  refresh,
  registerClient,
  startPortal,
} from './support/portal.ts';

/**
 * Applications choose the version of their drivers. The tests use each driver at the oldest
 * sufficient version and at the newest, on Portico's pool and on the application's.
 */
const isPostgres = inject('databaseServer')?.startsWith('postgres') === true;
const DRIVER = isPostgres ? 'pg' : 'mysql2';
const FLOOR = isPostgres ? '8.11.0' : '3.9.0';
const VERSIONS = ['newest', 'oldest'] as const;
const POOLS = ["Portico's", "the application's"] as const;
const WAYS = VERSIONS.flatMap((version) => POOLS.map((pool) => [version, pool] as const));
type Way = (typeof WAYS)[number];

type Installation = Omit<OtherInstallation, 'folder' | 'remove'>;
const newest: Installation = { host, pg, mysql };
let oldest: OtherInstallation;
let store: TestDatabase;
let administrator: OpenedDatabase;

beforeAll(async () => {
  oldest = await installWithFloor();
  store = await createDatabase('');
  administrator = host.openDatabase(store.url, { directory: '/' });
  await administrator.execute(
    'CREATE TABLE things (id INTEGER PRIMARY KEY, name VARCHAR(10) NOT NULL)',
  );
});
afterAll(async () => {
  await administrator.close();
  await store.drop();
  await oldest.remove();
});

const installed = (version: Way[0]) => (version === 'newest' ? newest : oldest);

/**
 * An application's pool with two connections, and Portico on it: from the same installation, or
 * from another.
 */
function poolOf(drivers: Installation, url: string, size = 2, portico = drivers.host) {
  if (isPostgres) {
    const pool = new drivers.pg.Pool({ connectionString: url, max: size });
    pool.on('error', () => {});
    onTestFinished(() => pool.end());
    return {
      database: portico.fromPostgres(pool),
      ask: async (sql: string) => (await pool.query<Record<string, unknown>>(sql)).rows,
      /** Runs the statements on one connection, and releases the connection in any state. */
      async leave(...statements: readonly string[]) {
        const client = await pool.connect();
        for (const statement of statements) await client.query(statement).catch(() => {});
        client.release();
      },
    };
  }
  const pool = drivers.mysql.createPool({ uri: url, connectionLimit: size });
  onTestFinished(() => pool.end());
  return {
    database: portico.fromMysql(pool),
    ask: async (sql: string) => (await pool.query<mysql.RowDataPacket[]>(sql))[0],
    /** Runs the statements on one connection, and releases the connection in any state. */
    async leave(...statements: readonly string[]) {
      const connection = await pool.getConnection();
      for (const statement of statements) await connection.query(statement).catch(() => {});
      connection.release();
    },
  };
}

/** A pool of Portico's own. */
function opened(
  version: Way[0],
  url: string,
  options: Partial<DatabaseOptions> = {},
): OpenedDatabase {
  const database = installed(version).host.openDatabase(url, { directory: '/', ...options });
  onTestFinished(() => database.close());
  return database;
}

/** The store of this database; its resources end with the test. */
function openAt(url: string, [version, pool]: Way, poolSize: number): BorrowedDatabase {
  if (pool === "the application's") return poolOf(installed(version), url, poolSize).database;
  const own = opened(version, url, { poolSize });
  return withExecute(own, (...asked) => own.execute(...asked));
}

const insert = (id: number, on: Pick<OpenedDatabase, 'execute'>) =>
  on.execute('INSERT INTO things (id, name) VALUES (?, ?)', [id, 'a']);
const ids = async () =>
  (await administrator.execute<{ id: number }>('SELECT id FROM things ORDER BY id')).rows.map(
    ({ id }) => id,
  );

test('the tests use the oldest driver version that package.json allows, and a newer one', async () => {
  const require = createRequire(import.meta.url);
  const versionOf = (name: string) =>
    (require(`${name}/package.json`) as { readonly version: string }).version;
  const { peerDependencies } = require('../packages/sql/package.json') as {
    readonly peerDependencies: Readonly<Record<string, string>>;
  };
  expect(versionOf(`${DRIVER}-floor`)).toBe(FLOOR);
  expect(peerDependencies[DRIVER]).toBe(isPostgres ? '>=8.11 <9' : '>=3.9 <4');
  expect(versionOf(DRIVER)).not.toBe(FLOOR);
});

describe.each(WAYS)(`the %s ${DRIVER}, on a pool that is %s`, (...way) => {
  // @shows AS-18.26
  test('completes an authorization, and a code or refresh token works once if used concurrently', async () => {
    const created = await createDatabase('');
    onTestFinished(() => created.drop());
    const portal = await startPortal({ database: openAt(created.url, way, 10) });
    onTestFinished(() => portal.close());
    const client = await registerClient(portal);
    const tokens = await obtainTokens(portal, client, ADA);
    expect((await callApi(portal, '/oauth/userinfo', tokens.access_token)).status).toBe(200);
    const refreshed = await refresh(portal, client, tokens.refresh_token);
    const { refresh_token: next } = (await refreshed.json()) as { readonly refresh_token: string };
    const code = await obtainCode(portal, client, await portal.signedIn(ADA));
    for (const use of [
      () => refresh(portal, client, next),
      () => exchangeCode(portal, client, code),
    ]) {
      const answers = await Promise.all(Array.from({ length: 6 }, use));
      const statuses = answers.map(({ status }) => status).toSorted((one, other) => one - other);
      expect(statuses).toEqual([200, 400, 400, 400, 400, 400]);
    }
  });

  // @shows AS-18.26
  test('leaves no changes of a failed transaction, and continues', async () => {
    const database = openAt(store.url, way, 1);
    await administrator.execute('DELETE FROM things');
    for (const id of [1, 2, 3]) {
      const failing = database.transaction(async (on) => {
        await insert(id, on);
        await insert(id, on);
      });
      await expect(failing).rejects.toThrow(/duplicate/i);
      await insert(id * 10, database);
      await expect(insert(id * 10, database)).rejects.toThrow(/duplicate/i);
    }
    expect(await ids()).toEqual([10, 20, 30]);
  });

  // @shows AS-18.26
  test('continues with a new connection if the server closes one', async () => {
    const database = openAt(store.url, way, 1);
    const ID = isPostgres ? 'pg_backend_pid()' : 'CONNECTION_ID()';
    const use = async () => {
      try {
        const { rows } = await database.execute<{ id: number }>(`SELECT ${ID} AS id`);
        return rows[0]?.id ?? 0;
      } catch (error) {
        if (!database.isUnavailable(error)) throw error;
        return 0;
      }
    };
    const end = (id: number) =>
      administrator.execute(isPostgres ? `SELECT pg_terminate_backend(${id})` : `KILL ${id}`);
    const before = await use();
    await end(before);
    await expect.poll(use).toBeGreaterThan(0);
    expect(await use()).not.toBe(before);
    const cut = database.transaction(async (on) => {
      await insert(99, on);
      const { rows } = await on.execute<{ id: number }>(`SELECT ${ID} AS id`);
      await end(rows[0]?.id ?? 0);
      await insert(98, on);
    });
    expect(database.isUnavailable(await cut.catch((error: unknown) => error))).toBe(true);
    await expect.poll(use).toBeGreaterThan(0);
    expect(await ids()).not.toContain(99);
  });
});

describe.each(VERSIONS)(`the %s ${DRIVER}`, (version) => {
  // @shows AS-18.18, AS-18.26
  test('returns no connection with an open transaction: finished work is committed', async () => {
    await administrator.execute('DELETE FROM things');
    const { database, ...pool } = poolOf(installed(version), store.url, 1);
    const work = [
      () => insert(1, database),
      () => insert(2, database),
      () => database.transaction((on) => insert(3, on)),
    ];
    for (const each of work) {
      await pool.leave('BEGIN', "INSERT INTO things (id, name) VALUES (9, 'theirs')");
      await each();
    }
    expect(await ids()).toEqual([1, 2, 3]);
  });

  // @shows AS-18.26
  test('limits the wait for a commit like that for any other statement', async () => {
    const way = await openWay(store.url, (url) =>
      opened(version, url, { poolSize: 1, statementTimeout: 0.1 }),
    );
    await way.database.transaction((on) => on.execute('SELECT 1'));
    way.holdsFrom = 'COMMIT';
    const unanswered = way.database.transaction((on) => on.execute('SELECT 1'));
    expect(way.database.isUnavailable(await unanswered.catch((error: unknown) => error))).toBe(
      true,
    );
  }, 20_000);

  const ON_POSTGRES = isPostgres ? ['postgres'] : [];
  // @shows AS-18.26
  test.each(ON_POSTGRES)(
    'prepares failed statements again, and continues if prepared statements are dropped, on %s',
    async () => {
      await administrator.execute('DELETE FROM things');
      const { database, ask } = poolOf(installed(version), store.url, 1);
      const prepared = async () =>
        (await ask("SELECT statement FROM pg_prepared_statements WHERE name LIKE 'portico_%'")).map(
          ({ statement }) => String(statement),
        );
      await expect(database.execute('SELECT id FROM later')).rejects.toThrow('does not exist');
      await administrator.execute('CREATE TABLE later (id INTEGER)');
      onTestFinished(async () => void (await administrator.execute('DROP TABLE later')));
      for (let time = 0; time < 2; time += 1)
        expect((await database.execute('SELECT id FROM later')).rows).toEqual([]);
      await insert(1, database);
      for (let time = 0; time < 2; time += 1)
        await expect(insert(1, database)).rejects.toThrow('duplicate');
      await insert(2, database);
      await database.execute('DELETE FROM things WHERE id = ?', [2]);
      expect(await prepared()).toEqual(
        expect.arrayContaining([
          'SELECT id FROM later',
          'INSERT INTO things (id, name) VALUES ($1, $2)',
          'DELETE FROM things WHERE id = $1',
        ]),
      );
      for (const drop of ['DEALLOCATE ALL', 'DISCARD ALL']) {
        await ask(drop);
        for (let time = 0; time < 3; time += 1)
          expect((await database.execute('SELECT id FROM things WHERE id = ?', [1])).rows).toEqual([
            { id: 1 },
          ]);
      }
    },
  );
});

describe(`a ${DRIVER} that is too old`, () => {
  const OLD = isPostgres ? '8.10.9' : '3.8.12-canary.1';
  const TAKES = isPostgres ? 'fromPostgres() takes a Pool of' : 'fromMysql() takes a pool of';
  const LEAST = isPostgres ? 'pg 8.11 or later' : 'mysql2 3.9 or later';

  async function install(changes: object) {
    const found = await installWithFloor({ [DRIVER]: changes });
    onTestFinished(() => found.remove());
    return found;
  }

  // @shows AS-18.26
  test('is refused at the start with its version and the required one, unlike newer versions', async () => {
    const old = await install({ version: OLD });
    expect(() => old.host.openDatabase(store.url, { directory: '/' })).toThrow(
      `database_url: needs the package ${LEAST}, but version ${OLD} is installed; run npm install ${isPostgres ? 'pg@8' : 'mysql2@3'}`,
    );
    await expect(poolOf(old, store.url).database.execute('SELECT 1')).rejects.toThrow(
      `database: ${TAKES} ${LEAST}; this is version ${OLD}`,
    );
    const { database } = poolOf(newest, store.url, 2, old.host);
    expect((await database.execute('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });

  // @shows AS-18.26
  test('prevents serve from starting, on the pool of the application and on that of Portico', async () => {
    const { folder } = await install({ version: OLD });
    const made = isPostgres
      ? 'fromPostgres(new pg.Pool())'
      : "fromMysql(mysql.createPool('mysql://127.0.0.1:1'))";
    const stores = { own: '', borrowed: `database: ${made},` };
    for (const [name, given] of Object.entries(stores)) {
      await writeFile(
        path.join(folder, `${name}.mjs`),
        `import { defineApplication } from '@portico/kit';
import { fromMysql, fromPostgres } from 'portico';
        import mysql from 'mysql2';
        import pg from 'pg';
        export default defineApplication({ ${given} config: { public_url: 'https://app.example' } });`,
      );
      const args = [
        'node_modules/portico/bin/portico.js',
        '--app',
        `${name}.mjs`,
        'serve',
        '--port',
        '0',
      ];
      const env = { ...process.env, DATABASE_URL: given === '' ? store.url : undefined };
      const { status, stderr } = spawnSync(process.execPath, args, {
        cwd: folder,
        env,
        encoding: 'utf8',
      });
      expect([status, stderr]).toEqual([
        1,
        expect.stringMatching(new RegExp(`^The .*\n.*${LEAST}[;,] .*${OLD}.*\n$`)),
      ]);
    }
  });

  test('is accepted if its version is unknown but its functions suffice', async () => {
    const hidden = {
      '.': isPostgres ? './lib/index.js' : './index.js',
      './promise': './promise.js',
    };
    const unknown = await install({ exports: hidden });
    const own = unknown.host.openDatabase(store.url, { directory: '/' });
    onTestFinished(() => own.close());
    for (const database of [own, poolOf(unknown, store.url).database])
      expect((await database.execute('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });
});
