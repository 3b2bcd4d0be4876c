import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Database, SqlConnection, SqlDialect } from './contract.ts';
import { migrate, migrationStatus, pendingSteps } from './migrations.ts';
import { openDatabase } from './open-database.ts';
import type { OpenedDatabase } from './opened.ts';
import { printMigrations } from './print-migrations.ts';
import type { BegunStep, Migration, SchemaConnection } from './schema.ts';

const HEAD =
  '-- The tables that Portico needs. Run this once, in one transaction if the database supports that for schema changes.\n';

function open() {
  const database = openDatabase('sqlite::memory:', { directory: '/' });
  onTestFinished(() => database.close());
  return database;
}

const step = (name: string, up: (schema: SchemaConnection) => Promise<unknown>): Migration => ({
  name,
  up: async (schema) => void (await up(schema)),
});
const one = step('a_0001', ({ change }) => change('CREATE TABLE a (n INTEGER)'));
const two = step('b_0001', ({ change }) => change('CREATE TABLE b (n INTEGER)'));

/** A server before its first migration. */
const server = (dialect: 'postgres' | 'mysql', schema?: string | null): Database => ({
  dialect,
  ...(schema === undefined ? {} : { schema }),
  execute: async () => ({ rows: [], affected: 0 }),
  transaction: () => Promise.reject(new Error('no')),
  readTogether: (work) => work(),
  isUnavailable: () => false,
});

describe('printed migrations', () => {
  test('create the tables that are missing, and mark the steps as applied', async () => {
    const database = open();
    const text = await printMigrations(database, [two, one]);
    expect(text.startsWith(`${HEAD}CREATE TABLE IF NOT EXISTS portico_migrations (name TEXT`)).toBe(
      true,
    );
    const lines = text.split('\n');
    expect(lines[2]).toBe('-- a_0001');
    expect(lines[3]).toBe('CREATE TABLE a (n INTEGER);');
    expect(lines[4]).toMatch(
      /^INSERT INTO portico_migrations \(name, applied_at\) VALUES \('a_0001', CAST\(.*\);$/,
    );
    expect(lines.slice(5, 7)).toEqual(['-- b_0001', 'CREATE TABLE b (n INTEGER);']);
    expect(lines).toHaveLength(9);
    expect(lines[8]).toBe('');
    expect(await printMigrations(database, [two, one])).toBe(text);
    for (const line of lines.filter((each) => !each.startsWith('--') && each !== ''))
      await database.execute(line);
    expect(await printMigrations(database, [two, one])).toBe('');
    expect(await migrate(database, [two, one])).toEqual([]);
  });

  test('contain only the steps that are missing', async () => {
    const database = open();
    await migrate(database, [one]);
    const text = await printMigrations(database, [one, two]);
    expect(text).toContain('CREATE TABLE b');
    expect(text).not.toContain('CREATE TABLE a');
  });

  test('are refused after an interrupted step', async () => {
    const database = open();
    await migrate(database, [one]);
    await database.execute('UPDATE portico_migrations SET applied_at = 0');
    await expect(printMigrations(database, [one, two])).rejects.toThrow(
      'The step a_0001 was started but not finished: run db:migrate up to finish it',
    );
  });

  test.each([
    'SELECT n FROM a',
    ' values (1)',
    'WITH b AS (SELECT 1) INSERT INTO a SELECT * FROM b',
    'INSERT INTO a VALUES (1) RETURNING n',
  ])('are refused for a step that reads: %s', async (sql) => {
    const reading = step('c_0001', (schema) => schema.execute(sql));
    await expect(printMigrations(open(), [reading])).rejects.toThrow(
      /^The step c_0001 depends on existing data, so it cannot be printed: write it as/,
    );
  });

  test('contain the values of parameters, except inside quotes', async () => {
    const sql = "UPDATE a SET b = ?, c = ?, d = ? WHERE \"e?\" = 'it''s ?' AND `f?` = ? ";
    const writing = step('c_0001', (schema) => schema.execute(sql, ["it's", 7, null, 8n]));
    expect(await printMigrations(open(), [writing])).toContain(
      "\nUPDATE a SET b = 'it''s', c = 7, d = NULL WHERE \"e?\" = 'it''s ?' AND `f?` = 8;\n",
    );
    const short = step('c_0002', (schema) => schema.execute('UPDATE a SET b = ?'));
    await expect(printMigrations(open(), [short])).rejects.toThrow(
      'A parameter is missing for UPDATE a SET b = ?',
    );
  });

  test('give a step the result of no row, and its engine', async () => {
    const seen: unknown[] = [];
    const looking = step('c_0001', async (schema) => {
      seen.push(schema.dialect, schema.types.text, await schema.execute('DELETE FROM a'));
    });
    await printMigrations(open(), [looking]);
    expect(seen).toEqual(['sqlite', 'TEXT', { rows: [], affected: 0 }]);
  });

  test('create and select the schema of PostgreSQL', async () => {
    const text = await printMigrations(server('postgres', 'app'), [one]);
    const at = ['CREATE SCHEMA IF NOT EXISTS "app"', 'CREATE TABLE a'].map((each) =>
      text.indexOf(each),
    );
    expect(at.every((each) => each > 0)).toBe(true);
    expect(at).toEqual(at.toSorted((x, y) => x - y));
    for (const plain of [server('postgres', null), server('postgres'), server('mysql', 'app')])
      expect(await printMigrations(plain, [one])).not.toMatch(/SCHEMA|search_path/);
  });
});

/** Answers a statement that contains this text with these rows, or with this error. */
type Answers = Readonly<Record<string, readonly object[] | Error>>;

/** A server that records the statements of a migration. */
function recording(dialect: SqlDialect, answers: Answers, schema: string | null = null) {
  const sent: string[] = [];
  const on: SqlConnection = {
    async execute(sql: string) {
      sent.push(sql);
      const found = Object.entries(answers).find(([text]) => sql.includes(text))?.[1] ?? [];
      if (found instanceof Error) throw found;
      return { rows: found as never[], affected: 1 };
    },
  };
  const database: Database = {
    ...on,
    dialect,
    schema,
    transaction: async (work) => work(on),
    readTogether: (work) => work(),
    isUnavailable: () => true,
  };
  return { database, sent };
}

describe('a migration of a server', () => {
  const LOCKED: Answers = { GET_LOCK: [{ taken: 1 }] };
  const DONE_BEFORE = Object.assign(new Error('it is there'), { errno: 1050 });
  const begun = (name: string): Answers => ({
    'information_schema.tables': [{ found: 1 }],
    'SELECT name, applied_at': [{ name, applied_at: 0 }],
  });

  test('is refused while another process migrates', async () => {
    const { database, sent } = recording('mysql', { GET_LOCK: [{ taken: 0 }] });
    await expect(migrate(database, [one])).rejects.toThrow(
      'Another process is migrating this database and has not finished; try again later',
    );
    expect(sent).toHaveLength(1);
  });

  test('releases its lock, also if it fails, and does not wait for a server', async () => {
    const { database, sent } = recording('mysql', { ...LOCKED, 'CREATE TABLE a': DONE_BEFORE });
    await expect(migrate(database, [one])).rejects.toBe(DONE_BEFORE);
    expect(sent.at(-1)).toContain('RELEASE_LOCK');
  });

  test('skips the changes that an interrupted step has made, and no other error', async () => {
    const changed = { ...LOCKED, ...begun('a_0001'), 'CREATE TABLE a': DONE_BEFORE };
    const { database, sent } = recording('mysql', changed);
    expect(await migrate(database, [one])).toEqual(['a_0001']);
    expect(sent.filter((sql) => sql.startsWith('INSERT'))).toEqual([]);
    expect(sent.filter((sql) => sql.startsWith('UPDATE'))).toHaveLength(1);
    const error = Object.assign(new Error('no'), { errno: 1064 });
    const { database: other } = recording('mysql', { ...changed, 'CREATE TABLE a': error });
    await expect(migrate(other, [one])).rejects.toBe(error);
  });

  test('creates the schema, if the store has one', async () => {
    const created = async (schema: string | null) => {
      const { database, sent } = recording('postgres', { pg_try: [{ taken: true }] }, schema);
      await migrate(database, []);
      return sent.filter((sql) => /CREATE SCHEMA/i.test(sql)).length;
    };
    expect([await created('app'), await created(null)]).toEqual([1, 0]);
    const { database } = recording('mysql', LOCKED, 'app');
    expect(await migrate(database, [])).toEqual([]);
  });

  test('uses the store without a time limit', async () => {
    const { database } = recording('mysql', {});
    const { database: unlimited, sent } = recording('mysql', LOCKED);
    await migrate({ ...database, withoutTimeout: () => unlimited }, [one]);
    expect(sent.length).toBeGreaterThan(3);
  });
});

describe('a migration', () => {
  test('reports each step that it begins', async () => {
    const database = open();
    const begun: BegunStep[] = [];
    await migrate(database, [two, one], (each) => begun.push(each));
    await migrate(database, [one, step('c_0001', async () => {})], (each) => begun.push(each));
    expect(begun).toEqual([
      { name: 'a_0001', number: 1, of: 2, isFirst: true },
      { name: 'b_0001', number: 2, of: 2, isFirst: true },
      { name: 'c_0001', number: 1, of: 1, isFirst: false },
    ]);
  });

  test('has its steps in the order of their names, however they are listed', async () => {
    const three = step('c_0001', async () => {});
    for (const steps of [
      [one, two, three],
      [three, two, one],
      [two, three, one],
    ])
      expect(await migrate(open(), steps)).toEqual(['a_0001', 'b_0001', 'c_0001']);
    for (const steps of [
      [one, two, one],
      [two, one, two],
    ])
      await expect(migrate(open(), steps)).rejects.toThrow(/^Two migrations are named [ab]_0001$/);
  });

  test('has a state for each step, with its time', async () => {
    const database = open();
    expect(await migrationStatus(database, [two, one])).toEqual([
      { name: 'a_0001', appliedAt: null },
      { name: 'b_0001', appliedAt: null },
    ]);
    const before = Date.now();
    await migrate(database, [one]);
    const states = await migrationStatus(database, [two, one]);
    const at = Date.parse(states[0]?.appliedAt ?? '');
    expect(at >= before && at <= Date.now()).toBe(true);
    expect(states[1]).toEqual({ name: 'b_0001', appliedAt: null });
    expect(pendingSteps(states)).toEqual(['b_0001']);
    expect(pendingSteps(states, 'b_')).toEqual(['b_0001']);
    expect(pendingSteps(states, 'a_')).toEqual([]);
  });

  test('repeats an interrupted step, but not the note that it began', async () => {
    const database = open();
    let runs = 0;
    const counting = step('a_0001', async () => (runs += 1));
    await migrate(database, [counting]);
    await database.execute('UPDATE portico_migrations SET applied_at = 0');
    expect(await migrate(database, [counting])).toEqual(['a_0001']);
    expect(await migrate(database, [counting])).toEqual([]);
    expect(runs).toBe(2);
  });

  test('fails with the error of its step, and gives a step its engine and parameters', async () => {
    const database = open();
    const seen: unknown[] = [];
    await migrate(database, [
      step('a_0001', async (schema) => {
        const { rows } = await schema.execute('SELECT ? AS n', [7]);
        seen.push(schema.dialect, schema.types.flag, rows);
      }),
    ]);
    expect(seen).toEqual(['sqlite', 'INTEGER', [{ n: 7 }]]);
    const failing = step('b_0001', ({ change }) => change('CREATE nothing'));
    await expect(migrate(database, [failing])).rejects.toThrow('syntax error');
    expect(await migrationStatus(database, [failing])).toEqual([
      { name: 'b_0001', appliedAt: null },
    ]);
  });
});

describe('a migration of a file that another process has locked', () => {
  let folder: string;
  let database: OpenedDatabase;
  let other: DatabaseSync;

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'portico-migrations-'));
    const file = path.join(folder, 'test.sqlite');
    database = openDatabase(`sqlite:${file}`, { directory: '/' });
    await database.execute('CREATE TABLE t (n INTEGER)');
    other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    other.close();
    await database.close();
    rmSync(folder, { recursive: true });
  });

  test('waits for that process', async () => {
    // Each look at the clock is a second after the one before. A single write waits five seconds.
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => {
      now += 1000;
      if (now === 20_000) other.exec('COMMIT');
      return now;
    });
    expect(await migrate(database, [one])).toEqual(['a_0001']);
  });

  test('fails with what to do if that process does not release it', async () => {
    // Each look at the clock is 300 seconds after the one before.
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 300_000));
    const failure: unknown = await migrate(database, []).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      message: expect.stringMatching(/^Another process has locked the database file/) as string,
      cause: { message: 'database is locked' },
    });
  });
});
