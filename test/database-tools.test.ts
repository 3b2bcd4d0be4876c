// @engines servers, long: it runs the commands of Drizzle, TypeORM and Knex on a server
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { migrate, openDatabase, examine, oauthServerMigrations } from 'portico';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { installPortico, ROOT } from './support/console.ts';
import { createDatabase } from './support/database.ts';
import {
  ADA,
  callApi,
  obtainTokens,
  refresh,
  registerClient,
  startPortal,
} from './support/portal.ts';

/**
 * What other tools do, with their own commands, to a database that contains Portico's tables
 * (docs/databases).
 */
const isPostgres = inject('databaseServer')?.startsWith('postgres') === true;
const run = promisify(execFile);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-tools-'));
  await cp(path.join(ROOT, 'test', 'databases'), folder, {
    recursive: true,
    filter: (file) => path.basename(file) !== 'node_modules',
  });
  await run('npm', ['ci', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
  });
  await installPortico(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A command of a tool: its folder, its program, its arguments. */
type Command = readonly [tool: string, program: string, ...argv: readonly string[]];

const DRIZZLE = 'drizzle-kit/bin.cjs';
const push = (config: string): Command => [
  'drizzle',
  DRIZZLE,
  'push',
  '--force',
  `--config=${config}`,
];
const typeorm = (command: string): Command => [
  'typeorm',
  'typeorm/cli.js',
  command,
  '-d',
  'source.js',
];
const knex = (...argv: readonly string[]): Command => [
  'knex',
  'knex/bin/cli.js',
  ...argv,
  '--knexfile=knexfile.cjs',
];
const PUSH = push(isPostgres ? 'drizzle.config.ts' : 'mysql.config.ts');

/**
 * Runs a command, up to three times. It reads the whole `information_schema`, and other tests
 * create and drop databases at the same time. The error contains the output of the command.
 */
async function runOn(url: string, [tool, program, ...argv]: Command): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await run(process.execPath, [path.join(folder, 'node_modules', program), ...argv], {
        cwd: path.join(folder, tool),
        env: { PATH: process.env['PATH'], HOME: folder, DATABASE_URL: url },
      });
      return;
    } catch (error) {
      const { message, stdout } = error as Error & { readonly stdout: string };
      if (attempt === 3) throw new Error(`${message}\n${stdout}`, { cause: error });
    }
  }
}

async function tables(url: string): Promise<readonly string[]> {
  const database = openDatabase(url, { directory: '/' });
  const { rows } = await database.execute<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = ${isPostgres ? "'public'" : 'DATABASE()'} ORDER BY 1`,
  );
  await database.close();
  return rows.map(({ name }) => name).filter((name) => /^(?:oauth_|portico_|people)/.test(name));
}

/** Portico's tables next to the application's, in one schema. */
async function together(first: readonly Command[]): Promise<string> {
  const { url, drop } = await created();
  onTestFinished(drop);
  for (const command of first) await runOn(url, command);
  const database = openDatabase(url, { directory: '/' });
  await migrate(database, oauthServerMigrations);
  await database.close();
  return url;
}

async function created(): Promise<{ url: string; drop: () => Promise<void> }> {
  const made = await createDatabase('');
  return { url: made.url, drop: () => made.drop() };
}

const OURS = 12;

describe('a tool that compares the database with the schema of the application', () => {
  test.each<[string, Command, readonly Command[]]>([
    ['drizzle-kit push --force', PUSH, [PUSH]],
    ['typeorm schema:drop', typeorm('schema:drop'), [typeorm('schema:sync')]],
  ])('drops the tables of Portico, which it does not know: %s', async (_, command, first) => {
    const url = await together(first);
    expect(await tables(url)).toHaveLength(OURS + 1);
    // On MariaDB, Drizzle fails after it has dropped them.
    await runOn(url, command).catch(() => {});
    expect((await tables(url)).filter((name) => name !== 'people')).toEqual([]);
  });

  test.each<[string, Command, readonly Command[]]>([
    ['typeorm schema:sync', typeorm('schema:sync'), []],
    ['knex migrate:rollback --all', knex('migrate:rollback', '--all'), [knex('migrate:latest')]],
    ...(isPostgres
      ? [
          ['drizzle-kit push --force with tablesFilter', push('filtered.config.ts'), [PUSH]] as [
            string,
            Command,
            readonly Command[],
          ],
        ]
      : []),
  ])('keeps the tables of Portico, which it does not know: %s', async (_, command, first) => {
    const url = await together(first);
    await runOn(url, command);
    expect((await tables(url)).filter((name) => name !== 'people')).toHaveLength(OURS);
  });
});

// @shows AS-18.19
test(`every command keeps the tables of Portico in a separate ${isPostgres ? 'schema' : 'database'}`, async () => {
  const application = await created();
  onTestFinished(application.drop);
  const portal = await startPortal(
    isPostgres ? { databaseUrl: application.url, config: { database_schema: 'portico' } } : {},
  );
  onTestFinished(() => portal.close());
  const client = await registerClient(portal);
  let tokens = await obtainTokens(portal, client, ADA);
  const commands = [
    PUSH,
    typeorm('schema:drop'),
    typeorm('schema:sync'),
    typeorm('schema:drop'),
    knex('migrate:latest'),
    knex('migrate:rollback', '--all'),
  ];
  for (const command of commands) {
    await runOn(application.url, command);
    expect((await callApi(portal, '/oauth/userinfo', tokens.access_token)).status).toBe(200);
    const refreshed = await refresh(portal, client, tokens.refresh_token);
    expect(refreshed.status).toBe(200);
    tokens = (await refreshed.json()) as typeof tokens;
  }
  const { checks } = await examine(portal.application, portal.server);
  expect(checks.find(({ part }) => part === 'schema')).toMatchObject({ outcome: 'ok' });
});

test.each(isPostgres ? ['drizzle', 'typeorm'] : [])(
  'Portico on the pool of %s creates its schema and finds it again',
  async (tool) => {
    const application = await created();
    onTestFinished(application.drop);
    const portico = async (...argv: readonly string[]) => {
      const { stdout } = await run(
        process.execPath,
        [
          path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js'),
          '--app',
          path.join(folder, tool, 'app.ts'),
          ...argv,
        ],
        { env: { PATH: process.env['PATH'], DATABASE_URL: application.url } },
      );
      return stdout;
    };
    expect(await portico('db:migrate', 'up')).toMatch(/^Applied oauth_server_0001_initial\.$/m);
    const states = JSON.parse(await portico('db:migrate', 'status', '--json')) as {
      appliedAt: string | null;
    }[];
    expect(states.map(({ appliedAt }) => appliedAt)).not.toContain(null);
    expect(await tables(application.url)).toEqual([]);
  },
);
