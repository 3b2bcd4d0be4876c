// @engines clusters: it sets time limits on its own servers, which end Portico's statements
import { openDatabase } from 'portico';
import { expect, onTestFinished, test } from 'vitest';
import { startBeside } from '../support/beside.ts';
import { MARIADB, POSTGRES } from '../support/engines/database-server.ts';
import { timesUnderLoad } from '../support/engines/under-load.ts';
import { startPortal } from '../support/portal.ts';
import { SCALE } from '../support/scale.ts';

/** The existing families cannot be written. */
const HOLDING = {
  postgres: 'LOCK TABLE oauth_families IN SHARE ROW EXCLUSIVE MODE',
  mariadb: 'SELECT id FROM oauth_families FOR UPDATE',
  mysql: 'SELECT id FROM oauth_families FOR UPDATE',
} as const;

/**
 * Runs until this many requests got 503. The server checks its limits once a second, and the
 * requests of one second were not enough.
 */
const ENDED = 4;

// @shows AS-18.9
test.each([
  ['statement_timeout', POSTGRES, "ALTER ROLE portico SET statement_timeout = '400ms'"],
  ['lock_timeout', POSTGRES, "ALTER ROLE portico SET lock_timeout = '300ms'"],
  ['max_statement_time', MARIADB, 'SET GLOBAL max_statement_time = 0.4'],
  ['innodb_lock_wait_timeout', MARIADB, 'SET GLOBAL innodb_lock_wait_timeout = 1'],
] as const)(
  'a server whose %s ends lock waits leads to no wrong response',
  async (limit, engine, setting) => {
    const server = await engine.start();
    onTestFinished(() => server.close());
    const portal = await startPortal({ databaseServer: server.url });
    onTestFinished(() => portal.close());
    const url = new URL(portal.env['DATABASE_URL'] ?? '');
    const administrator = openDatabase(url.href, { directory: '/' });
    onTestFinished(() => administrator.close());
    if (engine === POSTGRES) {
      // The session that ends the test has no limit.
      await administrator.execute('CREATE ROLE portico SUPERUSER LOGIN');
      url.username = 'portico';
    }
    await administrator.execute(setting);
    const { other, process: serving } = await startBeside(portal, { DATABASE_URL: url.href });
    onTestFinished(async () => void (await serving.stop('SIGKILL')));
    const processes = { portal, urls: [other.url] };
    const broken = await timesUnderLoad(
      SCALE.clusterFaults,
      `${engine.label}, ${limit}`,
      processes,
      async (load) => {
        await administrator.withoutTimeout().transaction(async (connection) => {
          await connection.execute(HOLDING[engine.name]);
          await load.unavailable(ENDED);
        });
      },
    );
    expect(broken).toEqual([]);
  },
);

// @shows AS-18.21
test.each([
  ['no connection left (1040)', 1040, ['--max-connections=10']],
  ['no connection left for an account (1203)', 1203, ['--max-user-connections=10']],
] as const)('a MariaDB server that has %s is unavailable', async (_, errno, options) => {
  const server = await MARIADB.start();
  onTestFinished(() => server.close());
  await server.end();
  await server.restart(...options);
  const administrator = openDatabase(server.url, { directory: '/', poolSize: 1 });
  onTestFinished(() => administrator.close());
  // An administrator may have one connection more than the limit.
  await administrator.execute('CREATE USER portico');
  const url = new URL(server.url);
  url.username = 'portico';
  url.pathname = '/information_schema';
  const database = openDatabase(url.href, { directory: '/', poolSize: 11 });
  onTestFinished(() => database.close());
  const asked = Array.from({ length: 11 }, () => database.execute('SELECT SLEEP(1)'));
  const failures = (await Promise.allSettled(asked)).flatMap((each) =>
    each.status === 'rejected' ? [each.reason as unknown] : [],
  );
  expect(failures.length).toBeGreaterThan(0);
  for (const failure of failures) {
    expect(failure).toMatchObject({ errno });
    expect(database.isUnavailable(failure)).toBe(true);
  }
});

// @shows AS-18.21
test('a MariaDB server whose disk is full (1114) is unavailable', async () => {
  const server = await MARIADB.start();
  onTestFinished(() => server.close());
  await server.end();
  // A file that may not grow is full in the same way, as far as the server reports it.
  const file = '--innodb-data-file-path=ibdata1:12M:autoextend:max:20M';
  await server.restart('--innodb-file-per-table=0', file);
  const database = openDatabase(server.url, { directory: '/' });
  onTestFinished(() => database.close());
  await database.execute('CREATE TABLE things (id INTEGER PRIMARY KEY, content MEDIUMTEXT)');
  const fill = async () => {
    for (let id = 0; id < 100; id += 1)
      await database.execute('INSERT INTO things VALUES (?, ?)', [id, 'x'.repeat(200_000)]);
  };
  const failure: unknown = await fill().catch((error: unknown) => error);
  expect(failure).toMatchObject({ errno: 1114 });
  expect(database.isUnavailable(failure)).toBe(true);
});
