// @engines sqlite: it limits the size of the file
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { porticoHere, ROOT } from './support/console.ts';

/**
 * Writes until a commit fails. Then finds out with another write whether the commit took effect, as
 * the authorization server does.
 */
const WRITER = `
  import { openDatabase } from 'portico';
  const database = openDatabase('sqlite:' + process.argv[1], { directory: '/' });
  await database.execute('CREATE TABLE t (text TEXT)');
  const insert = (on) => on.execute('INSERT INTO t VALUES (?)', ['x'.repeat(4096)]);
  let [committed, asked] = [0, 0];
  const question = async (connection) => {
    asked += 1;
    await insert(connection);
    return true;
  };
  try {
    for (;;) {
      await database.transaction(insert, question);
      committed += 1;
    }
  } catch (error) {
    const { rows } = await database.execute('SELECT COUNT(*) AS count FROM t');
    console.log(JSON.stringify({ isAll: rows[0].count === committed, asked, isUnavailable: database.isUnavailable(error) }));
  }
  await database.close();
`;
/** Writes until there is no room, and checks before and after whether the server is ready. */
const PROBED = `
  import { openDatabase } from 'portico';
  import { createAuthorizationServer, migrate, oauthServerConfiguration, oauthServerMigrations } from 'portico';
  const database = openDatabase('sqlite:' + process.argv[1], { directory: '/' });
  await migrate(database, [...oauthServerMigrations, {
    name: 'z_0001_full',
    up: ({ change }) => change('CREATE TABLE t (text TEXT)'),
  }]);
  const config = oauthServerConfiguration.parse({ name: 'A', scopes: {}, key_path: process.argv[1] + '-keys' });
  const log = { debug() {}, info() {}, warning() {}, error() {} };
  const host = { signedIn: async () => null, loadAccount: async () => null, holdsPermission: async () => false, loginUrl: '/', log };
  let now = 0;
  const clock = () => (now += 60_000);
  const { health } = createAuthorizationServer({ publicUrl: 'https://a.example', config, host, database, clock });
  const before = await health.readiness();
  await (async () => {
    for (;;) await database.execute('INSERT INTO t VALUES (?)', ['x'.repeat(4096)]);
  })().catch(() => {});
  // Each probe takes a page of what room is left for less than a token.
  let after = await health.readiness();
  for (let probes = 1; probes < 20 && after.status === 'ready'; probes += 1) after = await health.readiness();
  console.log(JSON.stringify([before, after]));
  await database.close();
`;
/**
 * In blocks of 512 bytes, as sh counts them; the file of the kit's empty schema would fit twice.
 */
const LARGEST_FILE = 2048;

// @shows AS-18.9
test('on a full disk, SQLite checks only once whether a commit took effect', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-full-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const limited = `ulimit -f ${LARGEST_FILE}; exec "$0" "$@"`;
  const writer = ['--input-type=module', '--eval', WRITER, path.join(folder, 'full.sqlite')];
  const { stdout } = await promisify(execFile)('sh', ['-c', limited, process.execPath, ...writer]);
  expect(JSON.parse(stdout)).toEqual({ isAll: true, asked: 1, isUnavailable: true });
});

// @shows AS-29.3
test('on a full disk, a server on SQLite reports not ready', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-full-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const limited = `ulimit -f ${LARGEST_FILE}; exec "$0" "$@"`;
  const writer = ['--input-type=module', '--eval', PROBED, path.join(folder, 'full.sqlite')];
  const { stdout } = await promisify(execFile)('sh', ['-c', limited, process.execPath, ...writer]);
  expect(JSON.parse(stdout)).toEqual([
    { status: 'ready', checks: { store: 'ok', schema: 'ok', key: 'ok' } },
    { status: 'not_ready', checks: { store: 'failing', schema: 'ok', key: 'ok' } },
  ]);
});

test('if the disk is full, db:backup names the copy, and not the database', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-full-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const cwd = path.join(ROOT, 'examples', 'portal');
  const env = { STORAGE_DIR: folder, DATABASE_URL: `sqlite:${path.join(folder, 'full.sqlite')}` };
  expect((await porticoHere(['db:migrate', 'up'], { cwd, env })).code).toBe(0);
  const program = path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js');
  const copy = path.join(folder, 'copy.sqlite');
  const command = ['ulimit -f 100; exec "$0" "$@"', process.execPath, program, 'db:backup', copy];
  const result = promisify(execFile)('sh', ['-c', ...command], {
    cwd,
    env: { ...process.env, ...env },
  });
  await expect(result).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^\S+copy\.sqlite\.part cannot be written: [^\n]+\n$/) as string,
  });
  expect(await readdir(folder)).not.toContain('copy.sqlite');
});

test('if the disk is full, assistant:setup leaves no part of the listing behind', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-full-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const program = path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js');
  const listing = path.join(folder, 'listing', 'addon.json');
  const setup = [program, 'assistant:setup', '--manifest', listing];
  const result = promisify(execFile)(
    'sh',
    ['-c', 'ulimit -f 1; exec "$0" "$@"', process.execPath, ...setup],
    {
      cwd: path.join(ROOT, 'examples', 'assistant'),
      env: { ...process.env, STORAGE_DIR: path.join(folder, 'storage') },
    },
  );
  await expect(result).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^\S+addon\.json cannot be written: [^\n]+\n$/) as string,
  });
  expect(await readdir(path.dirname(listing))).toEqual([]);
});
