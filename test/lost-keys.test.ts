// @engines sqlite: keys are files, and the store only says whether authorizations exist
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { porticoHere, ROOT } from './support/console.ts';
import { createClock } from './support/clock.ts';
import {
  ADA,
  authorizationUrl,
  obtainTokens,
  refresh,
  registerClient,
  startPortal,
} from './support/portal.ts';

const FOLDER = path.join(ROOT, 'examples', 'portal');

// @shows AS-11.21
test('setup does not replace a lost key after ID tokens were issued', async () => {
  const portal = await startPortal();
  const run = (...args: string[]) => porticoHere(args, { cwd: FOLDER, env: portal.env });
  const { key_path: directory } = portal.server.config;
  try {
    const client = await registerClient(portal);
    await rename(directory, `${directory}-away`);
    await mkdir(directory, { mode: 0o700 });
    // No ID token has been issued yet.
    expect(await run('oauth:server:setup')).toMatchObject({ code: 0 });
    await rename(directory, `${directory}-unused`);
    await rename(`${directory}-away`, directory);
    await obtainTokens(portal, client, ADA, { scope: 'openid' });
    await rename(directory, `${directory}-away`);
    await mkdir(directory, { mode: 0o700 });
    const refused = await run('oauth:server:setup');
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Restore the directory of that key') as string,
    });
    expect(await readdir(directory)).toEqual([]);
    const generated = await run('oauth:keys:generate');
    expect(generated).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('There was no key') as string,
    });
    expect(await readdir(directory)).toHaveLength(1);
    // With a key everything works.
    expect(await run('oauth:server:setup')).toMatchObject({ code: 0 });
    expect(await run('oauth:keys:generate')).toMatchObject({ code: 0, stderr: '' });
  } finally {
    await portal.close();
  }
});

// @shows AS-11.21
test('setup finds issued ID tokens even after thousands of other authorizations', async () => {
  const portal = await startPortal();
  const run = (...args: string[]) => porticoHere(args, { cwd: FOLDER, env: portal.env });
  const { key_path: directory } = portal.server.config;
  try {
    const client = await registerClient(portal);
    await obtainTokens(portal, client, ADA, { scope: 'openid' });
    await portal.application.database.execute(`
      WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 6000)
      INSERT INTO oauth_families (id, client_id, user_provider, user_id, subject, scope, created_at,
        expires_at, prune_after)
      SELECT printf('f%031d', n), client_id, user_provider, user_id, subject, 'notes:read',
        created_at, expires_at, prune_after FROM oauth_families, numbers WHERE scope = 'openid'`);
    await rename(directory, `${directory}-away`);
    await mkdir(directory, { mode: 0o700 });
    expect(await run('oauth:server:setup')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Restore the directory of that key') as string,
    });
    expect(await readdir(directory)).toEqual([]);
  } finally {
    await portal.close();
  }
});

// @shows AS-11.21
test('setup creates no key if the store cannot report whether ID tokens were issued', async () => {
  const storage = await mkdtemp(path.join(tmpdir(), 'portico-lost-keys-'));
  const env = {
    APP_ENV: 'dev',
    STORAGE_DIR: storage,
    DATABASE_URL: 'postgres://app@127.0.0.1:1/app',
  };
  const run = (command: string) => porticoHere([command], { cwd: FOLDER, env });
  try {
    expect(await run('oauth:server:setup')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('connect ECONNREFUSED 127.0.0.1:1') as string,
    });
    // An operator who knows that there is no other key can still create one.
    expect(await run('oauth:keys:generate')).toMatchObject({ code: 0 });
    expect(await run('oauth:server:setup')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('already exists') as string,
    });
  } finally {
    await rm(storage, { recursive: true });
  }
});

// @shows AS-11.23
test('a process without the keys of issued ID tokens returns 503 until it has them', async () => {
  const portal = await startPortal();
  const clock = createClock();
  const { key_path: directory } = portal.server.config;
  const elsewhere = `${directory}-elsewhere`;
  const started = await startPortal({
    clock: clock.now,
    databaseUrl: portal.env['DATABASE_URL'] ?? '',
    config: { oauth_server: { key_path: elsewhere } },
    signingKey: false,
  });
  const keySet = () => fetch(`${started.url}/.well-known/jwks.json`);
  try {
    const client = await registerClient(portal);
    await obtainTokens(portal, client, ADA, { scope: 'notes:read' });
    // No ID token was ever issued, as on a new server.
    const fresh = await keySet();
    expect([fresh.status, await fresh.json()]).toEqual([200, { keys: [] }]);
    const tokens = await obtainTokens(portal, client, ADA, { scope: 'openid notes:read' });
    clock.advance(61);
    const lost = await keySet();
    expect([
      lost.status,
      lost.headers.get('retry-after'),
      lost.headers.get('cache-control'),
    ]).toEqual([503, '2', 'no-store']);
    const log = await readFile(path.join(started.application.storageDirectory, 'app.log'), 'utf8');
    const lines = log.split('\n').filter((line) => line.includes('KeysLostError'));
    expect(lines.map((line) => (JSON.parse(line) as { readonly level: string }).level)).toEqual([
      'error',
    ]);
    expect(lines[0]).toContain(`The signing keys that were in ${elsewhere} are gone`);
    // Requests that need an ID token get 503, and their codes and tokens stay valid. Other requests
    // work.
    expect((await refresh(started, client, tokens.refresh_token)).status).toBe(503);
    const visitor = await started.signedIn(ADA);
    const asked = (scope: string) => visitor.get(authorizationUrl(started, client, { scope }));
    expect([(await asked('openid')).status, (await asked('notes:read')).status]).toEqual([
      503, 200,
    ]);
    const run = (...args: string[]) => porticoHere(args, { cwd: FOLDER, env: portal.env });
    expect(await run('oauth:keys:list')).toMatchObject({ code: 0 });

    await rename(directory, elsewhere);
    expect((await keySet()).status).toBe(200);
    expect((await refresh(started, client, tokens.refresh_token)).status).toBe(200);
  } finally {
    await started.close();
    await portal.close();
  }
});
