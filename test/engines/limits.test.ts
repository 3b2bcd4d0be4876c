// @engines clusters: it sets time limits of its own servers, which end what Portico asks of them
import { openDatabase, type OpenedDatabase } from 'portico/host';
import { expect, onTestFinished, test } from 'vitest';
import { startBeside } from '../support/beside.ts';
import { MARIADB, POSTGRES } from '../support/engines/database-server.ts';
import { timesUnderLoad } from '../support/engines/under-load.ts';
import { startPortal } from '../support/portal.ts';
import { SCALE } from '../support/scale.ts';

/** For how long a table is held, in seconds: longer than each limit, which is the fault. */
const HELD = 2;

/** Nobody can write to families meanwhile. */
const HOLDING = {
  postgres: ['LOCK TABLE oauth_families IN SHARE ROW EXCLUSIVE MODE', `SELECT pg_sleep(${HELD})`],
  mariadb: [
    'SELECT id FROM oauth_families FOR UPDATE',
    `SET STATEMENT max_statement_time = 0 FOR SELECT SLEEP(${HELD})`,
  ],
} as const;

async function hold(administrator: OpenedDatabase, statements: readonly string[]): Promise<void> {
  await administrator.withoutTimeout().transaction(async (connection) => {
    for (const statement of statements) await connection.execute(statement);
  });
}

// @shows AS-18.9
test.each([
  ['statement_timeout', POSTGRES, "ALTER ROLE portico SET statement_timeout = '400ms'"],
  ['lock_timeout', POSTGRES, "ALTER ROLE portico SET lock_timeout = '300ms'"],
  ['max_statement_time', MARIADB, 'SET GLOBAL max_statement_time = 0.4'],
  ['innodb_lock_wait_timeout', MARIADB, 'SET GLOBAL innodb_lock_wait_timeout = 1'],
] as const)('a server whose %s ends what waits for a lock', async (limit, engine, setting) => {
  const server = await engine.start();
  onTestFinished(() => server.close());
  const portal = await startPortal({ databaseServer: server.url });
  onTestFinished(() => portal.close());
  const url = new URL(portal.env['DATABASE_URL'] ?? '');
  const administrator = openDatabase(url.href, { directory: '/' });
  onTestFinished(() => administrator.close());
  if (engine === POSTGRES) {
    // Whoever ends the test has no limit.
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
      await Promise.all([hold(administrator, HOLDING[engine.name]), load.unavailable(4)]);
    },
  );
  expect(broken).toEqual([]);
});
