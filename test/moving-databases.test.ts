import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openDatabase } from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installPortico, porticoHere, ROOT, start } from './support/console.ts';
import { createDatabase, type TestDatabase } from './support/database.ts';
import { blocksOf } from './support/documents.ts';
import { freePort } from './support/free-port.ts';
import {
  ADA,
  callApi,
  exchangeCode,
  obtainCode,
  obtainTokens,
  refresh,
  registerClient,
  startPortal,
  type RunningPortal,
  type Tokens,
} from './support/portal.ts';

/** The script of docs/databases/moving.md that copies the rows of SQLite to another engine. */

const PORTAL = path.join(ROOT, 'examples', 'portal');
const PAGE = 'docs/databases/moving.md';

let portal: RunningPortal;
let folder: string;
let target: TestDatabase;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'portico-moving-'));
  portal = await startPortal({ databaseServer: null });
  target = await createDatabase(folder);
  const page = readFileSync(path.join(ROOT, PAGE), 'utf8');
  const script = blocksOf(PAGE, page).find(({ file }) => file === 'move.ts');
  await writeFile(path.join(folder, 'move.ts'), script?.code ?? '');
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  await mkdir(path.join(folder, 'node_modules'));
  await installPortico(folder);
});
afterAll(async () => {
  await portal.close();
  await target.drop();
  await rm(folder, { recursive: true });
});

const file = () => (portal.env['DATABASE_URL'] ?? '').replace(/^sqlite:/, '');

/** Runs the script as the page describes. */
async function move() {
  const running = start(['move.ts', file(), target.url], { cwd: folder });
  const code = await new Promise((resolve) => running.process.on('close', resolve));
  return { code, stdout: running.stdout(), stderr: running.stderr() };
}

/** How many rows each table has, for the tables that the script names. */
async function countRows(url: string, tables: readonly string[]) {
  const database = openDatabase(url, { directory: folder });
  try {
    const counts = tables.map(async (table) => {
      const { rows } = await database.execute<{ count: number }>(
        `SELECT COUNT(*) AS count FROM ${table}`,
      );
      return `${table}: ${rows[0]?.count}`;
    });
    return await Promise.all(counts);
  } finally {
    await database.close();
  }
}

const subjectOf = ({ id_token: token }: Tokens) =>
  (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { sub: string })
    .sub;

describe('a move from SQLite to the database engine of the project', () => {
  test('is refused before the tables exist', async () => {
    expect((await move()).code).toBe(1);
  });

  test('copies everything, so that clients and people notice no difference', async () => {
    const client = await registerClient(portal);
    const tokens = await obtainTokens(portal, client, ADA);
    const revoked = await obtainTokens(portal, client, ADA);
    const form = {
      token: revoked.refresh_token,
      client_id: client.id,
      client_secret: client.secret,
    };
    await fetch(`${portal.url}/oauth/revoke`, { method: 'POST', body: new URLSearchParams(form) });
    const ada = await portal.signedIn(ADA);
    const code = await obtainCode(portal, client, ada);

    const storage = path.join(folder, 'storage');
    await cp(portal.server.config.key_path, path.join(storage, 'oauth', 'keys'), {
      recursive: true,
    });
    const port = String(await freePort());
    const env = { ...portal.env, STORAGE_DIR: storage, DATABASE_URL: target.url, PORT: port };
    await porticoHere(['db:migrate', 'up'], { cwd: PORTAL, env });

    const moved = await move();
    expect(moved).toMatchObject({ code: 0, stderr: '' });
    const lines = moved.stdout.trim().split('\n');
    expect(lines.length).toBeGreaterThan(13);
    const tables = lines.map((line) => line.split(':')[0] ?? '');
    expect(await countRows(target.url, tables)).toEqual(lines);
    expect(await countRows(portal.env['DATABASE_URL'] ?? '', tables)).toEqual(lines);

    const serving = start([path.join(ROOT, 'packages', 'portico', 'bin', 'portico.js'), 'serve'], {
      cwd: PORTAL,
      env,
    });
    try {
      await serving.says('Listening on');
      const at: RunningPortal = { ...portal, url: `http://localhost:${port}`, env };
      expect((await callApi(at, '/api/whoami', tokens.access_token)).status).toBe(200);
      expect((await callApi(at, '/api/whoami', revoked.access_token)).status).toBe(401);
      const [refreshed, exchanged] = [
        await refresh(at, client, tokens.refresh_token),
        await exchangeCode(at, client, code),
      ];
      expect([refreshed.status, exchanged.status]).toEqual([200, 200]);
      expect(subjectOf((await exchanged.json()) as Tokens)).toBe(subjectOf(tokens));
      expect((await refresh(at, client, revoked.refresh_token)).status).toBe(400);
      const headers = { cookie: ada.cookies() };
      const page = await fetch(`${at.url}/oauth/applications`, { headers, redirect: 'manual' });
      expect(page.status).toBe(200);
    } finally {
      await serving.stop();
    }
  });

  test('changes nothing in a database that already contains rows', async () => {
    const tables = ['oauth_clients', 'oauth_families', 'oauth_subjects'];
    const before = await countRows(target.url, tables);
    const { code, stderr } = await move();
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('the new database has to be empty'),
    ]);
    expect(await countRows(target.url, tables)).toEqual(before);
  });
});
