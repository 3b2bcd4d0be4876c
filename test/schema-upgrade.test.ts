import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { migrationsOf } from '@portico/kit';
import {
  migrate,
  openDatabase,
  type Database,
  type Migration,
  type OpenedDatabase,
  type SqlConnection,
} from 'portico';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import portal from '../examples/portal/app.ts';
import { portico, ROOT, type ConsoleResult } from './support/console.ts';
import { createDatabase } from './support/database.ts';
import {
  ADA,
  callApi,
  obtainTokens,
  refresh,
  registerClient,
  startPortal,
} from './support/portal.ts';

// @shows AS-4.3, AS-4.10, AS-20.1, AS-20.2
test('a migration step of a later release keeps tokens and client secrets valid', async () => {
  const running = await startPortal();
  onTestFinished(() => running.close());
  const client = await registerClient(running);
  const { access_token: token, refresh_token: refreshToken } = await obtainTokens(
    running,
    client,
    ADA,
  );
  const later: Migration = {
    name: 'oauth_server_0002_later',
    async up({ change, types }) {
      for (const table of ['oauth_clients', 'oauth_families', 'oauth_access_tokens'])
        await change(`ALTER TABLE ${table} ADD COLUMN later ${types.identifier}`);
    },
  };
  expect(await migrate(running.application.database, [...migrationsOf(portal), later])).toEqual([
    later.name,
  ]);
  expect((await callApi(running, '/oauth/userinfo', token)).status).toBe(200);
  expect((await refresh(running, client, refreshToken)).status).toBe(200);
});

describe('the schema migration', () => {
  let folder: string;
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let opened: OpenedDatabase;
  let other: OpenedDatabase;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'portico-schema-'));
    database = await createDatabase(folder);
    opened = openDatabase(database.url, { directory: folder });
    // Two SQLite connections on one thread would wait for each other forever.
    other =
      opened.dialect === 'sqlite' ? opened : openDatabase(database.url, { directory: folder });
  });
  afterAll(async () => {
    await opened.close();
    if (other !== opened) await other.close();
    await database.drop();
    await rm(folder, { recursive: true });
  });

  // @shows AS-13.8, AS-20.2
  test('runs once if two start simultaneously, and the other one waits and finds it complete', async () => {
    const up = () =>
      portico(['db:migrate', 'up', '--json'], {
        cwd: path.join(ROOT, 'examples', 'portal'),
        env: { APP_ENV: 'dev', DATABASE_URL: database.url, STORAGE_DIR: folder },
      });
    const results = await Promise.all([up(), up(), up()]);
    // A step that takes longer than five seconds is reported while it runs.
    const said = ({ stderr }: ConsoleResult) =>
      stderr.replaceAll(/^Applying the schema\b.*\n/gm, '');
    expect(results.map((result) => ({ code: result.code, said: said(result) }))).toEqual(
      Array.from({ length: 3 }, () => ({ code: 0, said: '' })),
    );
    const applied = results.map(
      ({ stdout }) => (JSON.parse(stdout) as { applied: string[] }).applied,
    );
    const all = migrationsOf(portal).map(({ name }) => name);
    expect(applied.flat().toSorted()).toEqual(all.toSorted());
    expect(applied.filter((names) => names.length > 0)).toHaveLength(1);
  });

  test('may have a step that is longer than any request, and a wait that is even longer', async () => {
    const pause = {
      sqlite: 'SELECT 1',
      postgres: 'SELECT pg_sleep(11)',
      mysql: 'SELECT SLEEP(11)',
    } as const;
    const step: Migration = {
      name: 'test_0000_slow',
      async up(schema) {
        await schema.execute(pause[schema.dialect]);
        await schema.change(`CREATE TABLE slow (id ${schema.types.identifier} NOT NULL)`);
      },
    };
    const applied = await Promise.all([migrate(opened, [step]), migrate(other, [step])]);
    expect(applied.flat()).toEqual(['test_0000_slow']);
  });

  // @shows AS-20.2
  test('completes a step that was interrupted', async () => {
    let cutOff = true;
    const step: Migration = {
      name: 'test_0001_cut_off',
      async up({ change, types }) {
        await change(`CREATE TABLE cut_off (id ${types.identifier} NOT NULL)`);
        await change(`ALTER TABLE cut_off ADD COLUMN first ${types.text}`);
        await change('CREATE INDEX cut_off_id ON cut_off (id)');
        if (cutOff) throw new Error('the power went');
        await change(`ALTER TABLE cut_off ADD COLUMN second ${types.text}`);
      },
    };
    await expect(migrate(opened, [step])).rejects.toThrow('the power went');
    cutOff = false;
    expect(await migrate(opened, [step])).toEqual(['test_0001_cut_off']);
    expect(await migrate(opened, [step])).toEqual([]);
    expect((await opened.execute('SELECT id, first, second FROM cut_off')).rows).toEqual([]);
  });

  // @shows AS-20.2
  test.each(inject('databaseServer')?.startsWith('mysql') === true ? ['MySQL and MariaDB'] : [])(
    'repeats a step after a conflict rolled it back, and does not keep the lock of %s',
    async () => {
      const sessions: unknown[] = [];
      const step: Migration = {
        name: 'test_0002_conflict',
        async up(schema) {
          const { rows } = await schema.execute<{ id: number }>('SELECT CONNECTION_ID() AS id');
          sessions.push(rows[0]?.id);
          if (sessions.length === 1)
            await schema.execute(
              "SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = ''",
            );
        },
      };
      expect(await migrate(opened, [step])).toEqual(['test_0002_conflict']);
      expect(sessions).toHaveLength(2);
      // Other test files use the same server, so another session may have the lock.
      const { rows } = await other.execute<{ id: number | null }>(
        "SELECT IS_USED_LOCK('portico_migrations') AS id",
      );
      expect(sessions).not.toContain(rows[0]?.id);
      expect(await migrate(other, [step])).toEqual([]);
    },
  );

  // @shows AS-20.2
  test.each(inject('databaseServer')?.startsWith('postgres') === true ? ['PostgreSQL'] : [])(
    'waits ten minutes for a stuck run on %s, and then reports it',
    async () => {
      const step: Migration = {
        name: 'test_0003_limits',
        async up(schema) {
          limits.push(await limitOf(schema));
        },
      };
      const limits: unknown[] = [];
      const limitOf = async (on: Pick<SqlConnection, 'execute'>) =>
        (await on.execute<{ limit: string }>("SELECT current_setting('lock_timeout') AS limit"))
          .rows[0]?.limit;
      /** Notes how long the run waits for the lock, and makes it wait less. */
      const impatient: Database = {
        ...other,
        transaction: (work) =>
          other.withoutTimeout().transaction((connection) =>
            work({
              async execute(sql, parameters) {
                if (sql.includes('pg_advisory')) {
                  limits.push(await limitOf(connection));
                  await connection.execute("SET LOCAL lock_timeout = '50ms'");
                }
                return connection.execute(sql, parameters);
              },
            }),
          ),
      };
      const withoutMore = { ...impatient, withoutTimeout: () => impatient };
      const [stuck, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      onTestFinished(() => done.resolve());
      const before: Migration = {
        name: 'test_0002_stuck',
        async up() {
          stuck.resolve();
          await done.promise;
        },
      };
      const running = migrate(opened, [before]);
      await stuck.promise;
      await expect(migrate(withoutMore, [step])).rejects.toThrow(
        'Another process is migrating this database and has not finished; try again later',
      );
      done.resolve();
      await running;
      expect(await migrate(withoutMore, [step])).toEqual(['test_0003_limits']);
      expect(limits).toEqual(['10min', '10min', '0']);
    },
  );
});
