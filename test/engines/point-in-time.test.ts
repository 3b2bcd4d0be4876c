// @engines clusters: it starts a PostgreSQL server that archives its log, and restores it to a point in time
import { appendFile, cp, mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { openDatabase } from 'portico';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { porticoHere, ROOT, start } from '../support/console.ts';
import { codeBlocks } from '../support/documents.ts';
import { POSTGRES, required } from '../support/engines/database-server.ts';
import {
  createFolder,
  run,
  serve,
  type Owner,
  type ServerProcess,
} from '../support/engines/server-process.ts';
import { freePort } from '../support/free-port.ts';
import {
  ADA,
  obtainTokens,
  refresh,
  registerClient,
  signIn,
  startPortal,
  type RunningPortal,
  type Tokens,
} from '../support/portal.ts';
import { createVisitor } from '../support/visitor.ts';

const PORTAL = path.join(ROOT, 'examples', 'portal');
/** The archive of the page. */
const ARCHIVE = '/var/backups/wal';

/** What docs/backup.md and docs/restore.md say: the settings, the base backup, the restore. */
const [SETTINGS = '', BASE = '', RESTORE = ''] = codeBlocks()
  .filter(({ checkedBy }) => checkedBy?.endsWith('point-in-time.test.ts'))
  .map(({ code }) => code);

let folder: string;
let owner: Owner;
let portal: RunningPortal;
const servers: ServerProcess[] = [];

const bin = () => path.dirname(required(POSTGRES));
const inFolder = (name: string) => path.join(folder, name);
const urlAt = (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`;

/** Runs a command of the page, with the account of the server. */
const sh = (command: string, names: Readonly<Record<string, string>>) => {
  const set = Object.entries(names).map(([name, value]) => `${name}='${value}'`);
  const script = [`PATH=${bin()}:$PATH`, ...set, command.replaceAll(ARCHIVE, inFolder('wal'))].join(
    '\n',
  );
  return run(['sh', '-ec', script], owner);
};

async function startServer(data: string): Promise<number> {
  const port = await freePort();
  const options = ['-c', 'unix_socket_directories=', '-c', 'fsync=off'];
  const command = [
    `${bin()}/postgres`,
    '-D',
    data,
    '-p',
    String(port),
    '-h',
    '127.0.0.1',
    ...options,
  ];
  servers.push(await serve(command, owner, urlAt(port)));
  return port;
}

async function answerOf(url: string, question: string): Promise<unknown> {
  const database = openDatabase(url, { directory: '/' });
  try {
    const { rows } = await database.execute<{ answer: unknown }>(`SELECT ${question} AS answer`);
    return rows[0]?.answer;
  } finally {
    await database.close();
  }
}

beforeAll(async () => {
  ({ folder, owner } = await createFolder('postgres'));
  await sh('mkdir "$archive"', { archive: inFolder('wal') });
  const data = inFolder('data');
  await run(
    `${bin()}/initdb -D ${data} -U postgres -A trust --no-sync --locale=C -E UTF8`.split(' '),
    owner,
  );
  await appendFile(
    path.join(data, 'postgresql.conf'),
    SETTINGS.replaceAll(ARCHIVE, inFolder('wal')),
  );
  portal = await startPortal({ databaseServer: urlAt(await startServer(data)) });
});
afterAll(async () => {
  for (const server of servers) await server.kill();
  await portal.application.close().catch(() => {});
  await rm(folder, { recursive: true, force: true });
});

// @shows AS-31.9
test('point-in-time recovery restores all responses up to its moment; oauth:restored ends them', async () => {
  const administrator = portal.env['DATABASE_URL'] ?? '';
  const client = await registerClient(portal);
  const beforeBase = await obtainTokens(portal, client, ADA);
  await sh(BASE, { database: administrator, base: inFolder('base') });
  const afterBase = await obtainTokens(portal, client, ADA);
  const moment = String(await answerOf(administrator, 'clock_timestamp()::text'));
  const afterMoment = await obtainTokens(portal, client, ADA);

  // The segment with all of it is archived; then the disk is lost.
  const segment = String(await answerOf(administrator, 'pg_walfile_name(pg_current_wal_lsn())'));
  await answerOf(administrator, 'pg_switch_wal()::text');
  const archived = async () =>
    String(await answerOf(administrator, '(SELECT last_archived_wal FROM pg_stat_archiver)')) >=
    segment;
  await expect.poll(archived, { timeout: 60_000 }).toBe(true);
  await servers[0]?.kill();
  await rm(inFolder('data'), { recursive: true });

  await sh(RESTORE, { base: inFolder('base'), data: inFolder('data'), moment });
  const restored = new URL(administrator);
  restored.port = String(await startServer(inFolder('data')));
  const isReadOnly = () => answerOf(restored.href, 'pg_is_in_recovery()');
  await expect.poll(isReadOnly, { timeout: 60_000 }).toBe(false);

  const storage = inFolder('storage');
  await mkdir(storage);
  await cp(portal.server.config.key_path, path.join(storage, 'oauth', 'keys'), { recursive: true });
  const port = String(await freePort());
  const env = { ...portal.env, STORAGE_DIR: storage, DATABASE_URL: restored.href, PORT: port };
  const serving = start([path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js'), 'serve'], {
    cwd: PORTAL,
    env,
  });
  await serving.says('Listening on');
  try {
    const url = `http://localhost:${port}`;
    const signedIn = async (email: string) => {
      const visitor = createVisitor(url);
      await signIn(visitor, await visitor.get('/login'), email);
      return visitor;
    };
    const at: RunningPortal = { ...portal, url, env, signedIn };
    const statusOf = async ({ access_token: token }: Tokens) =>
      (await fetch(`${url}/oauth/userinfo`, { headers: { Authorization: `Bearer ${token}` } }))
        .status;
    expect(await Promise.all([beforeBase, afterBase, afterMoment].map(statusOf))).toEqual([
      200, 200, 401,
    ]);

    const ended = await porticoHere(['oauth:restored', '--yes', '--json'], { cwd: PORTAL, env });
    expect([ended.code, JSON.parse(ended.stdout)]).toMatchObject([0, { authorizations: 2 }]);
    expect(await statusOf(afterBase)).toBe(401);
    expect((await refresh(at, client, beforeBase.refresh_token)).status).toBe(400);
    expect(await statusOf(await obtainTokens(at, client, ADA))).toBe(200);
  } finally {
    await serving.stop();
  }
});
