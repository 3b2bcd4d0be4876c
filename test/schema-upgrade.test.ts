import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  migrate,
  migrationsOf,
  openDatabase,
  type Application,
  type OpenedDatabase,
  type Migration,
} from 'portico/host';
import { oauthServerMigrations } from 'portico/oauth-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import portal from '../examples/portal/app.ts';
import { accountsOf, seedPeople } from '../examples/portal/people.ts';
import { portico, ROOT, type ConsoleResult } from './support/console.ts';
import { createDatabase } from './support/database.ts';
import {
  ADA,
  callApi,
  CHALLENGE,
  errorOf,
  exchangeCode,
  GRACE,
  PASSWORD,
  REDIRECT_URI,
  refresh,
  requestToken,
  startPortal,
  type RunningPortal,
  type Tokens,
} from './support/portal.ts';

/** A database of the first release, with its data. */
const CLIENT = { id: 'Client-of-before', secret: 'the secret of before' };
const SAME_BUT_FOR_CASE = { id: 'client-OF-before', secret: 'another secret' };
const ROBOT = { id: 'robot-of-before', secret: 'the secret of the robot' };
const ENDED = { id: 'revoked-of-before', secret: 'the secret of the revoked' };
const SUBJECT = 'subject-of-ada';

/** The id of a family, in the form of every release; its tokens contain it. */
const RESTING = '6e2f1a0c9b8d7e6f5a4b3c2d1e0f9a8b';
const hashOf = (token: string) => createHash('sha256').update(token).digest('base64url');
const HOUR = 3_600_000;
/** The key of each table, before and after. */
const TABLES = {
  oauth_clients: ['client_id', 'client_id'],
  oauth_subjects: ['subject', 'subject'],
  oauth_consent_requests: ['id_hash', 'id_hash'],
  oauth_authorization_codes: ['code_hash', 'grant_hash'],
  oauth_refresh_tokens: ['token_hash', 'grant_hash'],
  oauth_access_tokens: ['token_hash', 'id'],
} as const;

/** The schema of the first release, and the host's people. */
async function firstRelease(application: Application): Promise<void> {
  const others = migrationsOf(portal).filter(({ name }) => !name.startsWith('oauth_server_'));
  await migrate(application.database, [...others, ...oauthServerMigrations.slice(0, 1)]);
  await seedPeople(application, PASSWORD);
}

async function fill(application: Application): Promise<void> {
  const { database, passwordHasher } = application;
  const now = Date.now();
  const insert = async (table: string, row: Readonly<Record<string, string | number | null>>) => {
    const columns = Object.keys(row);
    await database.execute(
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
      Object.values(row),
    );
  };
  const client = async ({ id, secret }: typeof CLIENT, changes = {}) =>
    insert('oauth_clients', {
      client_id: id,
      name: 'An application of before',
      redirect_uris: JSON.stringify([REDIRECT_URI]),
      scope: 'openid profile notes:read notes:write',
      grants: 'authorization_code refresh_token',
      is_public: 0,
      secret_hash: await passwordHasher.hash(secret),
      created_at: now - HOUR,
      revoked_at: null,
      ...changes,
    });
  await client(CLIENT);
  await client(SAME_BUT_FOR_CASE);
  await client(ROBOT, { grants: 'client_credentials', scope: 'notes:read', redirect_uris: '[]' });
  await client(ENDED, { revoked_at: now - HOUR });

  const idOf = async (email: string) => (await accountsOf(application).findByEmail(email))?.id ?? '';
  const ada = { user_provider: 'users', user_id: await idOf(ADA) };
  const { rows } = await database.execute<{ provider: string }>('SELECT provider FROM host_accounts');
  ada.user_provider = rows[0]?.provider ?? '';
  const grace = { ...ada, user_id: await idOf(GRACE) };
  await insert('oauth_subjects', { ...ada, subject: SUBJECT });

  const owner = { client_id: CLIENT.id, ...ada };
  const granted = { ...owner, scope: 'openid profile notes:read notes:write' };
  const code = (name: string, family: string, changes = {}) =>
    insert('oauth_authorization_codes', {
      ...granted,
      code_hash: hashOf(name),
      family_id: family,
      parameters: JSON.stringify({ redirectUri: REDIRECT_URI, codeChallenge: CHALLENGE, nonce: null }),
      expires_at: now + HOUR,
      spent_at: null,
      ...changes,
    });
  const refreshToken = (name: string, family: string, changes = {}) =>
    insert('oauth_refresh_tokens', {
      ...granted,
      token_hash: hashOf(name),
      family_id: family,
      issued_at: now - HOUR,
      expires_at: now + HOUR,
      used_at: null,
      revoked_at: null,
      ...changes,
    });
  const accessToken = (name: string, family: string | null, changes = {}) =>
    insert('oauth_access_tokens', {
      ...granted,
      token_hash: hashOf(name),
      family_id: family,
      issued_at: now - HOUR,
      expires_at: now + HOUR,
      revoked_at: null,
      ...changes,
    });

  await code('spent-code', 'living', { spent_at: now - HOUR });
  await refreshToken('used-refresh', 'living', { used_at: now - HOUR });
  await refreshToken('good-refresh', 'living');
  await accessToken('good-access', 'living');
  await accessToken('narrow-access', 'living', { scope: 'notes:read' });
  await accessToken('revoked-access', 'living', { revoked_at: now - 1000 });

  await code('fresh-code', 'asked');
  await refreshToken('dead-refresh', 'replayed', { revoked_at: now - 1000, used_at: now - HOUR });
  await refreshToken('dead-successor', 'replayed', { revoked_at: now - 1000 });
  await accessToken('dead-access', 'replayed');
  await refreshToken('replayed-later', 'watched', { used_at: now - HOUR });
  await refreshToken('successor-of-watched', 'watched');
  await accessToken('only-access', 'without-refresh', { scope: 'notes:read' });
  await accessToken('access-of-grace', 'grace', { ...grace, scope: 'openid notes:read' });
  await accessToken('robot-access', null, {
    client_id: ROBOT.id,
    user_provider: null,
    user_id: null,
    scope: 'notes:read',
  });
  await refreshToken('used-at-rest', RESTING, { used_at: now - HOUR });
  await refreshToken('rested-refresh', RESTING);
  await refreshToken('refresh-of-the-revoked', 'ended', { client_id: ENDED.id });
  await insert('oauth_consent_requests', {
    id_hash: hashOf('pending'),
    browser_hash: hashOf('browser'),
    client_id: CLIENT.id,
    parameters: '{}',
    user_provider: null,
    user_id: null,
    asked_scope: null,
    expires_at: now + HOUR,
  });
}

async function keysOf(
  database: OpenedDatabase,
  when: 'before' | 'after',
): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const keys: Record<string, readonly unknown[]> = {};
  for (const [table, [old, current]] of Object.entries(TABLES)) {
    const key = when === 'before' ? old : current;
    const { rows } = await database.execute<{ kept: string }>(
      `SELECT ${key} AS kept FROM ${table} ORDER BY ${key}`,
    );
    keys[table] = rows.map(({ kept }) => kept);
  }
  return keys;
}

describe('from the first release to this one, with data', () => {
  let running: RunningPortal;
  let before: Awaited<ReturnType<typeof keysOf>>;

  beforeAll(async () => {
    running = await startPortal({
      async beforeSchema(application) {
        await firstRelease(application);
        await fill(application);
        before = await keysOf(application.database, 'before');
      },
    });
  });
  afterAll(() => running.close());

  const status = async (token: string, at = '/api/notes') => (await callApi(running, at, token)).status;

  // @shows AS-20.2
  test('nothing is dropped', async () => {
    const after = await keysOf(running.application.database, 'after');
    for (const [table, keys] of Object.entries(before)) {
      expect(keys.length, table).toBeGreaterThan(0);
      expect(after[table], table).toEqual(expect.arrayContaining([...keys]));
    }
  });

  // @shows AS-4.3, AS-20.2
  test('access tokens of before work, for the same person and no more than before', async () => {
    expect(await status('good-access')).toBe(200);
    const userinfo = await callApi(running, '/oauth/userinfo', 'good-access');
    expect(await userinfo.json()).toMatchObject({ sub: SUBJECT, name: 'Ada Lovelace' });
    expect(await status('narrow-access')).toBe(200);
    expect(await status('narrow-access', '/oauth/userinfo')).toBe(403);
    expect(await status('only-access')).toBe(200);
    expect(await status('access-of-grace')).toBe(200);
    expect(await status('robot-access')).toBe(200);
  });

  // @shows AS-20.2
  test('what was revoked stays revoked', async () => {
    expect(await status('revoked-access')).toBe(401);
    expect(await status('dead-access')).toBe(401);
    expect(await errorOf(await refresh(running, CLIENT, 'dead-successor'))).toBe('invalid_grant');
    expect((await refresh(running, ENDED, 'refresh-of-the-revoked')).status).toBe(401);
  });

  // @shows AS-4.3
  test('a code and a refresh token of before are good for one use', async () => {
    const tokens = (await (await exchangeCode(running, CLIENT, 'fresh-code')).json()) as Tokens;
    expect(await status(tokens.access_token)).toBe(200);
    const refreshed = await refresh(running, CLIENT, 'good-refresh');
    expect(refreshed.status).toBe(200);
    const { access_token: accessToken } = (await refreshed.json()) as Tokens;
    expect(await status(accessToken)).toBe(200);
    expect((await refresh(running, CLIENT, 'good-refresh')).status).toBe(400);
    expect(await status(accessToken)).toBe(401);
  });

  // @shows AS-18.11
  test('a family of before grows no more with use, and knows all that was ever used', async () => {
    const rows = async () => {
      const { rows: found } = await running.application.database.execute(
        'SELECT 1 FROM oauth_refresh_tokens WHERE family_id = ?',
        [RESTING],
      );
      return found.length;
    };
    expect(await rows()).toBe(2);
    let token = 'rested-refresh';
    const offered = [token];
    for (let count = 0; count < 5; count += 1) {
      const response = await refresh(running, CLIENT, token);
      expect(response.status).toBe(200);
      token = ((await response.json()) as Tokens).refresh_token;
      offered.push(token);
    }
    expect(await rows()).toBe(2);
    expect((await refresh(running, CLIENT, 'rested-refresh')).status).toBe(400);
    expect((await refresh(running, CLIENT, token)).status).toBe(400);
  });

  // @shows AS-20.2
  test('a refresh token used before the upgrade and replayed after it ends its family', async () => {
    expect((await refresh(running, CLIENT, 'replayed-later')).status).toBe(400);
    expect((await refresh(running, CLIENT, 'successor-of-watched')).status).toBe(400);
  });

  // @shows AS-4.10, AS-20.1
  test('client secrets of before are accepted, and can be rotated', async () => {
    const ask = (secret: string) =>
      requestToken(running, { ...ROBOT, secret }, { grant_type: 'client_credentials' });
    expect((await ask(ROBOT.secret)).status).toBe(200);
    const { secret } = await running.server.clients.rotateSecret(ROBOT.id);
    expect([(await ask(ROBOT.secret)).status, (await ask(secret)).status]).toEqual([200, 200]);
  });

  // @shows AS-4.4, AS-4.12
  test('identifiers that differ in case, or in a space at the end, are different ones', async () => {
    expect((await running.server.clients.find(CLIENT.id))?.id).toBe(CLIENT.id);
    expect((await running.server.clients.find(SAME_BUT_FOR_CASE.id))?.id).toBe(SAME_BUT_FOR_CASE.id);
    expect(await running.server.clients.find('CLIENT-OF-BEFORE')).toBeNull();
    const { database } = running.application;
    const found = async (column: string, value: string) =>
      (await database.execute(`SELECT 1 FROM oauth_families WHERE ${column} = ?`, [value])).rows.length;
    expect(await found('id', 'living')).toBe(1);
    expect(await found('id', 'Living')).toBe(0);
    expect(await found('id', 'living ')).toBe(0);
    expect(await found('client_id', `${CLIENT.id} `)).toBe(0);
  });
});

describe('applying the schema', () => {
  let folder: string;
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let opened: OpenedDatabase;
  let other: OpenedDatabase;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'portico-schema-'));
    database = await createDatabase(folder);
    opened = openDatabase(database.url, { directory: folder });
    // Two SQLite connections on one thread would wait for each other forever.
    other = opened.dialect === 'sqlite' ? opened : openDatabase(database.url, { directory: folder });
  });
  afterAll(async () => {
    await opened.close();
    if (other !== opened) await other.close();
    await database.drop();
    await rm(folder, { recursive: true });
  });

  // @shows AS-13.8, AS-20.2
  test('of two processes that migrate at once one does it, the other waits and finds it done', async () => {
    const up = () =>
      portico(['db:migrate', 'up', '--json'], {
        cwd: path.join(ROOT, 'examples', 'portal'),
        env: { APP_ENV: 'dev', DATABASE_URL: database.url, STORAGE_DIR: folder },
      });
    const results = await Promise.all([up(), up(), up()]);
    // What takes longer than five seconds is told while it goes on.
    const said = ({ stderr }: ConsoleResult) => stderr.replaceAll(/^Applying the schema\b.*\n/gm, '');
    expect(results.map((result) => ({ code: result.code, said: said(result) }))).toEqual(
      Array.from({ length: 3 }, () => ({ code: 0, said: '' })),
    );
    const applied = results.map(({ stdout }) => (JSON.parse(stdout) as { applied: string[] }).applied);
    const all = migrationsOf(portal).map(({ name }) => name);
    expect(applied.flat().toSorted()).toEqual(all.toSorted());
    expect(applied.filter((names) => names.length > 0)).toHaveLength(1);
  });

  test('a step may take longer than any request, and whoever waits for it longer still', async () => {
    const pause = { sqlite: 'SELECT 1', postgres: 'SELECT pg_sleep(11)', mysql: 'SELECT SLEEP(11)' } as const;
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
  test('a step that was cut off is finished by the next run', async () => {
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
});
