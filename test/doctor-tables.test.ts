import { examine, openDatabase, type Check } from 'portico';
import { expect, inject, onTestFinished, test } from 'vitest';
import { startPortal, type RunningPortal } from './support/portal.ts';

/** The doctor's findings about tables: dropped ones, and ones that its user may not use. */
const server = inject('databaseServer');
/** SQLite has no users. */
const SERVERS =
  server === undefined ? [] : [server.startsWith('postgres') ? 'PostgreSQL' : 'MySQL'];
const USER = 'portico_reader';

async function open(): Promise<RunningPortal> {
  const portal = await startPortal();
  onTestFinished(() => portal.close());
  return portal;
}

async function findings(
  portal: RunningPortal,
  database = portal.application.database,
): Promise<readonly Omit<Check, 'part'>[]> {
  const migrations = () => portal.application.migrations();
  const { checks } = await examine({ database, migrations }, portal.server);
  return checks
    .filter(({ part }) => part === 'table access')
    .map(({ outcome, detail, remedy }) => ({ outcome, detail, remedy }));
}

// @shows AS-13.17
test('the doctor reports each table that was dropped', async () => {
  const portal = await open();
  const { database } = portal.application;
  expect(await findings(portal)).toEqual([]);
  await database.execute('DROP TABLE oauth_cookie_keys');
  await database.execute('DROP TABLE oauth_single_uses');
  const missing = (table: string) => ({
    outcome: 'failing',
    detail: `the table ${table} does not exist, although its migration is applied`,
    remedy: 'restore the table from a backup (docs/restore.md)',
  });
  expect(await findings(portal)).toEqual([
    missing('oauth_cookie_keys'),
    missing('oauth_single_uses'),
  ]);
});

// @shows AS-13.17
test.each(SERVERS)(
  'the doctor reports each privilege that its user lacks, and changes nothing, on %s',
  async (engine) => {
    const portal = await open();
    const { database } = portal.application;
    const url = new URL(portal.env['DATABASE_URL'] ?? '');
    const isPostgres = engine === 'PostgreSQL';
    const user = isPostgres ? USER : `'${USER}'@'%'`;
    const run = (sql: string) => database.execute(sql);
    await run(isPostgres ? `CREATE ROLE ${user} LOGIN` : `CREATE USER ${user}`);
    onTestFinished(async () => {
      const administrator = openDatabase(server ?? '', { directory: '/' });
      if (isPostgres) await run(`DROP OWNED BY ${user}`).catch(() => {});
      await administrator.execute(`DROP ${isPostgres ? 'ROLE' : 'USER'} ${user}`);
      await administrator.close();
    });
    const all = 'SELECT, INSERT, UPDATE, DELETE';
    for (const table of await tables(portal))
      await run(`GRANT ${table === 'oauth_subjects' ? 'SELECT' : all} ON ${table} TO ${user}`);
    await run(`REVOKE SELECT ON oauth_audit FROM ${user}`);
    url.username = USER;
    url.password = '';
    const limited = openDatabase(url.href, { directory: '/' });
    onTestFinished(() => limited.close());
    const found = await findings(portal, limited);
    expect(found.map(({ outcome }) => outcome)).toEqual(Array.from(found, () => 'failing'));
    expect(found.map(({ detail }) => detail.slice(0, detail.indexOf(':')))).toEqual([
      'oauth_subjects',
      'oauth_subjects',
      'oauth_subjects',
      'oauth_audit',
    ]);
    for (const { detail, remedy } of found) {
      expect(detail).toMatch(isPostgres ? /permission denied/ : /command denied to user/);
      expect(remedy).toMatch(/^grant the missing privilege/);
    }
  },
);

async function tables({ application: { database } }: RunningPortal): Promise<readonly string[]> {
  const schema = database.dialect === 'postgres' ? 'current_schema()' : 'DATABASE()';
  const { rows } = await database.execute<{ found: string }>(
    `SELECT table_name AS found FROM information_schema.tables WHERE table_schema = ${schema}`,
  );
  return rows.map(({ found }) => found);
}
