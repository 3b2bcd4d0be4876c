// @engines all, long: it prints and applies the schema of every engine
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import mysql, { type RowDataPacket } from 'mysql2/promise';
import pg from 'pg';
import {
  migrate,
  migrationStatus,
  openDatabase,
  printMigrations,
  type Migration,
  type OpenedDatabase,
  oauthServerMigrations,
} from 'portico';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { porticoHere } from './support/console.ts';
import { createDatabase } from './support/database.ts';
import { ADA, callApi, obtainTokens, registerClient, startPortal } from './support/portal.ts';

/** `db:migrate up --print`: the SQL of the schema, for a tool that applies it elsewhere. */
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'portico-print-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function empty(
  schema: string | null = null,
): Promise<{ url: string; database: OpenedDatabase }> {
  const created = await createDatabase(folder);
  const { url } = created;
  const database = openDatabase(url, { directory: '/', schema });
  // Creates the file of SQLite.
  await database.execute('SELECT 1');
  onTestFinished(async () => {
    await database.close();
    await created.drop();
  });
  return { url, database };
}

/** Runs the whole text in one call on the plain driver, as a migration tool does. */
async function apply(url: string, sql: string): Promise<void> {
  if (url.startsWith('sqlite:')) {
    const file = new DatabaseSync(url.slice('sqlite:'.length));
    file.exec(sql);
    file.close();
  } else if (url.startsWith('postgres:')) {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(sql);
    await client.end();
  } else {
    const connection = await mysql.createConnection({ uri: url, multipleStatements: true });
    await connection.query(sql);
    await connection.end();
  }
}

const run = promisify(execFile);

/**
 * Returns the schema as the engine prints it, to the byte. For PostgreSQL, its own program prints
 * it.
 */
async function shown(url: string): Promise<string> {
  if (url.startsWith('sqlite:')) {
    const file = new DatabaseSync(url.slice('sqlite:'.length), { readOnly: true });
    const rows = file
      .prepare('SELECT type, name, sql FROM sqlite_master ORDER BY type, name')
      .all();
    file.close();
    return JSON.stringify(rows, null, 1);
  }
  if (url.startsWith('postgres:')) {
    const { stdout } = await run('/usr/lib/postgresql/15/bin/pg_dump', ['--schema-only', url]);
    // The dump contains a random key against psql statements, which is new in each dump.
    return stdout.replaceAll(/^\\(?:un)?restrict .*$/gm, '');
  }
  const connection = await mysql.createConnection({ uri: url });
  const [tables] = await connection.query<RowDataPacket[]>({
    sql: 'SHOW TABLES',
    rowsAsArray: true,
  });
  const created: unknown[] = [];
  for (const [name] of tables as unknown as [string][]) {
    created.push((await connection.query<RowDataPacket[]>(`SHOW CREATE TABLE ${name}`))[0]);
  }
  await connection.end();
  return JSON.stringify(created, null, 1);
}

/** The schema, and the steps that later releases add. */
const STEPS: readonly Migration[] = [
  ...oauthServerMigrations,
  {
    name: 'oauth_server_0002_column',
    async up({ change, types }) {
      await change(`ALTER TABLE oauth_clients ADD COLUMN later ${types.identifier}`);
      await change('CREATE INDEX oauth_clients_later ON oauth_clients (later)');
    },
  },
  {
    name: 'oauth_server_0003_table',
    async up(schema) {
      const { identifier, tableOptions } = schema.types;
      await schema.change(
        `CREATE TABLE oauth_later (id ${identifier} NOT NULL PRIMARY KEY) ${tableOptions}`,
      );
      await schema.execute('INSERT INTO oauth_later (id) SELECT client_id FROM oauth_clients');
    },
  },
];

describe('the printed schema', () => {
  // @shows AS-18.20
  test.each([0, 1, 2, 3])(
    'of a database with %i steps equals the result of the remaining steps',
    async (count) => {
      const [one, other] = [await empty(), await empty()];
      for (const { database } of [one, other]) await migrate(database, STEPS.slice(0, count));
      const before = await shown(one.url);
      const sql = await printMigrations(one.database, STEPS);
      expect(await printMigrations(other.database, STEPS)).toBe(sql);
      expect(await shown(one.url)).toBe(before);
      expect(sql === '').toBe(count === STEPS.length);
      if (sql !== '') await apply(one.url, sql);
      await migrate(other.database, STEPS);
      expect(await shown(one.url)).toBe(await shown(other.url));
      const states = await migrationStatus(one.database, STEPS);
      for (const { appliedAt } of states) {
        const age = Date.now() - new Date(appliedAt ?? 0).getTime();
        expect(Math.abs(age)).toBeLessThan(3_600_000);
      }
      expect(await migrate(one.database, STEPS)).toEqual([]);
      expect(await printMigrations(one.database, STEPS)).toBe('');
    },
  );

  // @shows AS-18.20
  test('is sufficient for a server, and the console recognizes it after printing it', async () => {
    const { url } = await empty();
    let printed = '';
    const portal = await startPortal({
      databaseUrl: url,
      async beforeSchema(application) {
        const env = {
          DATABASE_URL: url,
          STORAGE_DIR: application.storageDirectory,
          APP_ENV: 'dev',
        };
        const at = (...argv: string[]) =>
          porticoHere(argv, {
            cwd: path.join(import.meta.dirname, '..', 'examples', 'portal'),
            env,
          });
        const before = await shown(url);
        printed = (await at('db:migrate', 'up', '--print')).stdout;
        expect(await shown(url)).toBe(before);
        await apply(url, printed);
        const states = JSON.parse((await at('db:migrate', 'status', '--json')).stdout) as {
          appliedAt: string | null;
        }[];
        expect(states.every(({ appliedAt }) => appliedAt !== null)).toBe(true);
        const again = await at('db:migrate', 'up', '--print');
        expect(again).toMatchObject({ code: 0, stdout: '', stderr: 'The schema is up to date.\n' });
        expect(await at('db:migrate', 'status', '--print')).toMatchObject({ code: 1, stdout: '' });
      },
    });
    onTestFinished(() => portal.close());
    expect(printed).toContain('CREATE TABLE oauth_families');
    const client = await registerClient(portal);
    const tokens = await obtainTokens(portal, client, ADA);
    expect((await callApi(portal, '/oauth/userinfo', tokens.access_token)).status).toBe(200);
  });

  test('contains the values of the custom steps of an application, as the engine writes them', async () => {
    const { url, database } = await empty();
    const values = ["it's", 'a\\', '?', null, 7, 9_007_199_254_740_993n] as const;
    const step: Migration = {
      name: 'app_0001',
      async up(schema) {
        const { types } = schema;
        await schema.change(
          `CREATE TABLE things (a ${types.text}, b ${types.text}, c ${types.text}, d ${types.text}, e ${types.time}, f ${types.time}, g ${types.text})`,
        );
        await schema.execute("INSERT INTO things VALUES (?, ?, ?, ?, ?, ?, 'is it?')", values);
      },
    };
    await apply(url, await printMigrations(database, [step]));
    const text = { sqlite: 'TEXT', postgres: 'TEXT', mysql: 'CHAR' }[database.dialect];
    const { rows } = await database.execute(
      `SELECT a, b, c, d, e, CAST(f AS ${text}) AS f, g FROM things`,
    );
    expect(rows).toEqual([
      { a: "it's", b: 'a\\', c: '?', d: null, e: 7, f: '9007199254740993', g: 'is it?' },
    ]);
  });

  test('is refused for a step that reads, or that was started and not finished', async () => {
    const { database } = await empty();
    const reading: Migration = {
      name: 'app_0001',
      up: async (schema) => void (await schema.execute('SELECT 1')),
    };
    await expect(printMigrations(database, [reading])).rejects.toThrow(
      /^The step app_0001 depends on .*INSERT … SELECT/,
    );
    await migrate(database, []);
    await database.execute(
      "INSERT INTO portico_migrations (name, applied_at) VALUES ('app_0001', 0)",
    );
    await expect(printMigrations(database, [reading])).rejects.toThrow(
      /app_0001 was started but not finished/,
    );
  });
});
