// @engines all: it drops tables, and database users lack privileges
import { examine, openDatabase, type Check } from 'portico';
import { expect, inject, onTestFinished, test } from 'vitest';
import { startPortal, type RunningPortal } from './support/portal.ts';

/** The doctor's findings about tables: dropped ones, and ones that its user may not read. */
const server = inject('databaseServer');
const isPostgres = server?.startsWith('postgres') === true;
/** SQLite has no users. */
const SERVERS = server === undefined ? [] : [isPostgres ? 'PostgreSQL' : 'MySQL'];
const USER = 'portico_limited';
const ALL = 'SELECT, INSERT, UPDATE, DELETE';

/** Turns on all features that have their own tables. */
const CONFIG = {
  oauth_server: {
    device_authorization: true,
    back_channel_logout: true,
    logout: true,
    jwt_bearer_grant: true,
    trusted_issuers: {
      'https://login.example': {
        jwks_uri: 'https://login.example/keys',
        algorithms: ['ES256'],
        asserts: ['people'],
      },
    },
  },
};

async function open(): Promise<RunningPortal> {
  const portal = await startPortal({ config: CONFIG });
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
test('the doctor names each table that was dropped', async () => {
  const portal = await open();
  expect(await findings(portal)).toEqual([]);
  const dropped = (await tables(portal)).filter((name) => name.startsWith('oauth_'));
  for (const table of dropped) await portal.application.database.execute(`DROP TABLE ${table}`);
  expect(dropped.length).toBeGreaterThan(15);
  const found = await findings(portal);
  expect(found.toSorted((one, other) => (one.detail < other.detail ? -1 : 1))).toEqual(
    dropped.map((table) => ({
      outcome: 'failing',
      detail: `the table ${table} does not exist, although its migration is applied`,
      remedy: 'restore the table from a backup (docs/restore.md)',
    })),
  );
});

// @shows AS-13.17
test.each(SERVERS)(
  'the doctor says that a privilege is missing, and no backup, for a table without grants on %s',
  async () => {
    const portal = await open();
    const limited = await limitedUser(portal, (table) => (table === 'oauth_subjects' ? null : ALL));
    expect(await findings(portal, limited)).toEqual([
      {
        outcome: 'failing',
        detail: expect.stringMatching(
          isPostgres
            ? /^oauth_subjects: permission denied for table oauth_subjects$/
            : /^oauth_subjects: SELECT command denied to user/,
        ) as string,
        remedy: expect.stringMatching(/^grant the missing privilege to the /) as string,
      },
    ]);
  },
);

// @shows AS-13.17
test.each(SERVERS)(
  'the doctor accepts a user who may not update or delete audit events, on %s',
  async () => {
    const portal = await open();
    const limited = await limitedUser(portal, (table) =>
      table === 'oauth_audit' ? 'SELECT, INSERT' : ALL,
    );
    await expect(limited.execute('DELETE FROM oauth_audit')).rejects.toThrow('denied');
    expect(await findings(portal, limited)).toEqual([]);
  },
);

/** Opens the portal's database as a new user with these privileges for each table. */
async function limitedUser(portal: RunningPortal, granted: (table: string) => string | null) {
  const { database } = portal.application;
  const user = isPostgres ? USER : `'${USER}'@'%'`;
  await database.execute(isPostgres ? `CREATE ROLE ${user} LOGIN` : `CREATE USER ${user}`);
  onTestFinished(async () => {
    if (isPostgres) await database.execute(`DROP OWNED BY ${user}`);
    await database.execute(`DROP ${isPostgres ? 'ROLE' : 'USER'} ${user}`);
  });
  for (const table of await tables(portal)) {
    const privileges = granted(table);
    if (privileges !== null) await database.execute(`GRANT ${privileges} ON ${table} TO ${user}`);
  }
  const url = new URL(portal.env['DATABASE_URL'] ?? '');
  url.username = USER;
  url.password = '';
  const limited = openDatabase(url.href, { directory: '/' });
  onTestFinished(() => limited.close());
  return limited;
}

const TABLES = {
  sqlite: "SELECT name FROM sqlite_master WHERE type = 'table'",
  postgres: 'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()',
  mysql: 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()',
};

async function tables({ application }: RunningPortal): Promise<readonly string[]> {
  const { database } = application;
  const { rows } = await database.execute<{ name: string }>(TABLES[database.dialect]);
  return rows.map(({ name }) => name).toSorted();
}
