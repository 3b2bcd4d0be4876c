// @engines all, long: it migrates many databases step by step
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  migrate,
  migrationsOf,
  openDatabase,
  type Application,
  type Database,
  type Migration,
  type OpenedDatabase,
} from 'portico/host';
import { oauthServerMigrations, type SqlParameter } from 'portico/oauth-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import portal from '../examples/portal/app.ts';
import { accountsOf, seedPeople } from '../examples/portal/people.ts';
import { createDatabase } from './support/database.ts';
import { CHEAP } from './support/hashers.ts';
import {
  ADA,
  callApi,
  CHALLENGE,
  exchangeCode,
  PASSWORD,
  REDIRECT_URI,
  refresh,
  startPortal,
  VERIFIER,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { SCALE } from './support/scale.ts';

/** From the release that kept codes and refresh tokens in tables of their own, to one row for each authorization. */
const BEFORE = oauthServerMigrations.slice(0, 5);
const FROM_THERE = oauthServerMigrations.slice(5);
const AFTERWARDS = oauthServerMigrations.slice(7);

const CLIENT = { id: 'client-of-before', secret: 'the secret of before' };
const OTHER = { id: 'another-of-before', secret: 'another secret' };
const ENDED = { id: 'revoked-of-before', secret: 'the secret of the revoked' };

const NOW = Date.now();
const HOUR = 3_600_000;
const hashOf = (token: string) => createHash('sha256').update(token).digest('base64url');
/** 43 characters that are the same in every run. */
const secret = (name: string) => hashOf(`secret of ${name}`);
const familyId = (name: string) => createHash('md5').update(name).digest('hex');
const markOf = (name: string) => secret(`mark of ${name}`);
/** A refresh token as the release before wrote it. */
const marked = (name: string, which: string) =>
  [familyId(name), markOf(name), secret(`${name} ${which}`)].join('.');
/** A code, access token or refresh token of 43 characters. */
const plain = (name: string, which: string) => secret(`${name} ${which}`);

type Row = Readonly<Record<string, SqlParameter>>;

async function insert(database: Database, table: string, row: Row): Promise<void> {
  const columns = Object.keys(row);
  await database.execute(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    Object.values(row),
  );
}

/** What one authorization of the release before has; `ago` and `expired` in milliseconds. */
interface Before {
  readonly client?: TestClient;
  /** Whether its tokens have the mark. */
  readonly mark?: boolean;
  readonly code?: 'fresh' | 'spent' | 'expired';
  /** Its refresh tokens with rows. */
  readonly refresh?: readonly ('used' | 'current' | 'current, marked' | 'expired, marked')[];
  readonly access?: boolean;
  readonly revoked?: boolean;
}

/** By name; every state that the release before leaves. */
const AUTHORIZATIONS: Readonly<Record<string, Before>> = {
  resting: { mark: true, code: 'spent', refresh: ['current, marked'], access: true },
  replayed: { mark: true, code: 'spent', refresh: ['current, marked'], access: true },
  garbled: { mark: true, code: 'spent', refresh: ['current, marked'], access: true },
  guessed: { mark: true, code: 'spent', refresh: ['current, marked'], access: true },
  revocable: { mark: true, code: 'spent', refresh: ['current, marked'], access: true },
  'code again': { mark: true, code: 'spent', refresh: ['current, marked'], access: true },
  older: { code: 'spent', refresh: ['used', 'current'], access: true },
  'older replayed': { code: 'spent', refresh: ['used', 'current'], access: true },
  half: { mark: true, code: 'spent', refresh: ['used', 'current, marked'], access: true },
  'half replayed': { mark: true, code: 'spent', refresh: ['used', 'current, marked'], access: true },
  asked: { code: 'fresh' },
  'asked by another': { code: 'fresh' },
  late: { code: 'expired' },
  burnt: { code: 'spent' },
  'without refresh': { code: 'spent', access: true },
  'refresh over': { mark: true, code: 'spent', refresh: ['expired, marked'], access: true },
  revoked: { mark: true, code: 'fresh', refresh: ['current, marked'], access: true, revoked: true },
  "a revoked client's": { client: ENDED, mark: true, refresh: ['current, marked'], access: true },
};

async function fill(database: Database, person: { readonly provider: string; readonly id: string }) {
  for (const { id, secret: word } of [CLIENT, OTHER, ENDED]) {
    await insert(database, 'oauth_clients', {
      client_id: id,
      name: 'An application of before',
      redirect_uris: JSON.stringify([REDIRECT_URI]),
      scope: 'notes:read',
      grants: 'authorization_code refresh_token client_credentials',
      is_public: 0,
      secret_hash: await hashed(word),
      created_at: NOW - HOUR,
      revoked_at: id === ENDED.id ? NOW - HOUR : null,
    });
  }
  const owner = { user_provider: person.provider, user_id: person.id, subject: 'subject-of-ada' };
  await insert(database, 'oauth_subjects', owner);
  await insert(database, 'oauth_access_tokens', {
    token_hash: hashOf(plain('robot', 'access')),
    client_id: CLIENT.id,
    family_id: null,
    scope: 'notes:read',
    audience: null,
    issued_at: NOW - HOUR,
    expires_at: NOW + HOUR,
  });
  for (const [name, authorization] of Object.entries(AUTHORIZATIONS)) {
    const { client = CLIENT, mark = false, code, refresh: tokens = [], access, revoked } = authorization;
    const id = familyId(name);
    await insert(database, 'oauth_families', {
      ...owner,
      id,
      client_id: client.id,
      scope: 'notes:read',
      audience: null,
      created_at: NOW - 2 * HOUR,
      expires_at: NOW + 30 * HOUR,
      revoked_at: revoked === true ? NOW - HOUR : null,
      refresh_mark_hash: mark ? hashOf(markOf(name)) : null,
    });
    if (code !== undefined) {
      await insert(database, 'oauth_authorization_codes', {
        code_hash: hashOf(plain(name, 'code')),
        family_id: id,
        parameters: JSON.stringify({ redirectUri: REDIRECT_URI, codeChallenge: CHALLENGE, nonce: null }),
        expires_at: code === 'expired' ? NOW - 1000 : NOW + HOUR,
        spent_at: code === 'spent' ? NOW - HOUR : null,
      });
    }
    for (const token of tokens) {
      const text = token.endsWith('marked') ? marked(name, 'current') : plain(name, token);
      await insert(database, 'oauth_refresh_tokens', {
        token_hash: hashOf(text),
        family_id: id,
        // As if by a node whose clock is ahead: when it was issued does not say which is in use.
        issued_at: token === 'used' ? NOW : NOW - HOUR,
        expires_at: token.startsWith('expired') ? NOW - 1000 : NOW + 20 * HOUR,
        used_at: token === 'used' ? NOW - HOUR : null,
      });
    }
    if (access === true) {
      await insert(database, 'oauth_access_tokens', {
        token_hash: hashOf(plain(name, 'access')),
        client_id: client.id,
        family_id: id,
        scope: 'notes:read',
        audience: null,
        issued_at: NOW - HOUR,
        expires_at: NOW + 10 * HOUR,
      });
    }
  }
}

const hashes = new Map<string, Promise<string>>();
/** Hashed once, so that what two databases hold can be compared. */
function hashed(word: string): Promise<string> {
  const known = hashes.get(word) ?? CHEAP.hash(word);
  hashes.set(word, known);
  return known;
}

/** The release before, with its data and the host's people. */
async function releaseBefore(application: Application): Promise<void> {
  const others = migrationsOf(portal).filter(({ name }) => !name.startsWith('oauth_server_'));
  await migrate(application.database, [...others, ...BEFORE]);
  await seedPeople(application, PASSWORD);
  const account = await accountsOf(application).findByEmail(ADA);
  const { rows } = await application.database.execute<{ provider: string }>(
    'SELECT provider FROM host_accounts',
  );
  await fill(application.database, { provider: rows[0]?.provider ?? '', id: account?.id ?? '' });
}

let running: RunningPortal;
const api = async (token: string) => (await callApi(running, '/api/notes', token)).status;
const refreshed = async (token: string, client = CLIENT) => (await refresh(running, client, token)).status;
const exchanged = async (name: string, client = CLIENT) =>
  (await exchangeCode(running, client, plain(name, 'code'))).status;

async function successor(token: string): Promise<Tokens> {
  const response = await refresh(running, CLIENT, token);
  expect(response.status).toBe(200);
  return (await response.json()) as Tokens;
}

/** Every token that the family had before, and these. */
async function expectDead(name: string, ...others: readonly Tokens[]): Promise<void> {
  for (const access of [plain(name, 'access'), ...others.map((tokens) => tokens.access_token)]) {
    expect(await api(access)).toBe(401);
  }
  const all = [marked(name, 'current'), plain(name, 'current'), ...others.map((each) => each.refresh_token)];
  for (const token of all) expect(await refreshed(token)).toBe(400);
}

describe('an authorization of the release before', () => {
  beforeAll(async () => {
    running = await startPortal({ beforeSchema: releaseBefore });
  });
  afterAll(() => running.close());

  // @shows AS-20.2
  test('is there with its access tokens, as they were', async () => {
    const good = Object.entries(AUTHORIZATIONS).filter(([, { access }]) => access === true);
    for (const [name, { revoked, client }] of good) {
      const isDead = revoked === true || client !== undefined;
      expect([name, await api(plain(name, 'access'))]).toEqual([name, isDead ? 401 : 200]);
    }
    expect(await api(plain('robot', 'access'))).toBe(200);
    // The rows' keys are no tokens.
    expect(await api(hashOf(plain('robot', 'access')))).toBe(401);
    expect(await api(`${familyId('resting')}.${plain('resting', 'access')}`)).toBe(401);
  });

  // @shows AS-5.4, AS-5.5, AS-18.11, AS-20.2
  test.each([
    ['resting', marked('resting', 'current')],
    ['older', plain('older', 'current')],
    ['half', marked('half', 'current')],
  ])('%s: refreshes on, and what was in use before is a replay afterwards', async (name, token) => {
    const tokens = [await successor(token)];
    for (let count = 0; count < 3; count += 1) {
      tokens.push(await successor(tokens.at(-1)?.refresh_token ?? ''));
    }
    expect(await api(plain(name, 'access'))).toBe(200);
    expect(await refreshed(token, OTHER)).toBe(400);
    expect(await api(tokens.at(-1)?.access_token ?? '')).toBe(200);
    expect(await refreshed(token)).toBe(400);
    await expectDead(name, ...tokens);
  });

  // @shows AS-5.5, AS-5.16, AS-18.8, AS-20.2
  test.each([
    ['replayed', marked('replayed', 'long ago')],
    ['garbled', `${marked('garbled', 'current')}x`],
    ['older replayed', plain('older replayed', 'used')],
    ['half replayed', plain('half replayed', 'used')],
  ])('%s: what was used before ends it, when its own client offers it', async (name, used) => {
    await running.server.prune();
    expect(await refreshed(used, OTHER)).toBe(400);
    expect(await api(plain(name, 'access'))).toBe(200);
    expect(await refreshed(used)).toBe(400);
    await expectDead(name);
  });

  // @shows AS-5.16, AS-20.2
  test('code again: a code that was spent before ends it, and only from its own client', async () => {
    expect(await exchanged('code again', OTHER)).toBe(400);
    const next = await successor(marked('code again', 'current'));
    expect(await exchanged('code again')).toBe(400);
    await expectDead('code again', next);
  });

  // @shows AS-18.11, AS-20.2
  test('guessed: what was never a token of it changes nothing', async () => {
    const [id = '', mark = '', own = ''] = marked('guessed', 'current').split('.');
    const guesses = [
      [id, own, mark],
      [id, markOf('resting'), own],
      [id, hashOf(mark), own],
      [id.toUpperCase(), mark, own],
      [hashOf(marked('guessed', 'current'))],
    ].map((parts) => parts.join('.'));
    for (const guess of guesses) expect(await refreshed(guess)).toBe(400);
    const next = await successor(marked('guessed', 'current'));
    expect(await api(next.access_token)).toBe(200);
  });

  // @shows AS-10.1, AS-20.2
  test('revocable: its tokens can be revoked, by their own client', async () => {
    const revoke = async (client: TestClient, token: string) => {
      const basic = Buffer.from(`${client.id}:${client.secret}`).toString('base64');
      const headers = { Authorization: `Basic ${basic}` };
      const body = new URLSearchParams({ token });
      return (await fetch(`${running.url}/oauth/revoke`, { method: 'POST', headers, body })).status;
    };
    const access = plain('revocable', 'access');
    expect(await revoke(OTHER, access)).toBe(200);
    expect(await api(access)).toBe(200);
    expect(await revoke(CLIENT, access)).toBe(200);
    expect(await api(access)).toBe(401);
    const next = await successor(marked('revocable', 'current'));
    expect(await revoke(CLIENT, marked('revocable', 'current'))).toBe(200);
    await expectDead('revocable', next);
  });

  // @shows AS-5.1, AS-5.2, AS-5.16, AS-20.2
  test('asked: its code is good for one use, an expired or burnt one for none', async () => {
    const response = await exchangeCode(running, CLIENT, plain('asked', 'code'));
    expect(response.status).toBe(200);
    const first = (await response.json()) as Tokens;
    const next = await successor(first.refresh_token);
    expect(await exchanged('asked')).toBe(400);
    await expectDead('asked', first, next);
    expect(await exchanged('asked by another', OTHER)).toBe(400);
    expect(await exchanged('asked by another')).toBe(400);
    expect([await exchanged('late'), await exchanged('burnt')]).toEqual([400, 400]);
  });

  // @shows AS-20.2
  test('that was revoked, has expired or is of a revoked client gives nothing', async () => {
    expect(await exchanged('revoked')).toBe(400);
    await expectDead('revoked');
    expect(await refreshed(marked("a revoked client's", 'current'), ENDED)).toBe(401);
    expect(await refreshed(marked('refresh over', 'current'))).toBe(400);
    expect(await api(plain('refresh over', 'access'))).toBe(200);
  });
});

// --- steps that are cut off -----------------------------------------------------------------------------------

const TABLES = {
  oauth_families: 'id',
  oauth_access_tokens: 'id',
  oauth_authorization_codes: 'grant_hash',
  oauth_refresh_tokens: 'grant_hash',
  oauth_clients: 'client_id',
} as const;

async function contents(database: Database): Promise<Readonly<Record<string, unknown>>> {
  const all: Record<string, unknown> = {};
  for (const [table, key] of Object.entries(TABLES)) {
    all[table] = (await database.execute(`SELECT * FROM ${table} ORDER BY ${key}`)).rows;
  }
  return all;
}

/** The same steps, with something that happens before each of their statements, and at their ends. */
function watched(steps: readonly Migration[], before: () => Promise<void>): readonly Migration[] {
  return steps.map((step) => ({
    name: step.name,
    async up(schema) {
      await step.up({
        ...schema,
        async execute(sql, parameters) {
          await before();
          return schema.execute(sql, parameters);
        },
        async change(statement) {
          await before();
          await schema.change(statement);
        },
      });
      await before();
    },
  }));
}

/** `other` is another process's. */
async function withReleaseBefore(
  work: (database: OpenedDatabase, other: OpenedDatabase) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-one-row-'));
  const created = await createDatabase(folder);
  const database = openDatabase(created.url, { directory: folder });
  const other = openDatabase(created.url, { directory: folder });
  try {
    await migrate(database, BEFORE);
    await fill(database, { provider: 'users', id: '1' });
    await work(database, other);
  } finally {
    await other.close();
    await database.close();
    await created.drop();
    await rm(folder, { recursive: true });
  }
}

/** As the release before wrote them; what it does in one transaction, in one list. */
const AS_THE_RELEASE_BEFORE: Readonly<
  Record<string, readonly (readonly [string, readonly SqlParameter[]])[]>
> = {
  'uses a refresh token': [
    [
      'UPDATE oauth_families SET expires_at = ?, refresh_mark_hash = COALESCE(?, refresh_mark_hash) WHERE id = ? AND revoked_at IS NULL',
      [NOW + 90 * HOUR, hashOf('new mark'), familyId('resting')],
    ],
    [
      'UPDATE oauth_refresh_tokens SET token_hash = ?, issued_at = ?, expires_at = ? WHERE token_hash = ? AND used_at IS NULL',
      [hashOf('new'), NOW, NOW + HOUR, hashOf(marked('resting', 'current'))],
    ],
    [
      'INSERT INTO oauth_access_tokens (token_hash, client_id, family_id, scope, audience, issued_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
      [hashOf('access'), CLIENT.id, familyId('resting'), 'notes:read', null, NOW, NOW + HOUR],
    ],
  ],
  'uses a refresh token without a mark': [
    [
      'UPDATE oauth_refresh_tokens SET used_at = ? WHERE token_hash = ? AND used_at IS NULL',
      [NOW, hashOf(plain('older', 'current'))],
    ],
    [
      'INSERT INTO oauth_refresh_tokens (token_hash, family_id, issued_at, expires_at, used_at) VALUES (?, ?, ?, ?, NULL)',
      [hashOf('new'), familyId('older'), NOW, NOW + HOUR],
    ],
    [
      'INSERT INTO oauth_access_tokens (token_hash, client_id, family_id, scope, audience, issued_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
      [hashOf('access'), CLIENT.id, familyId('older'), 'notes:read', null, NOW, NOW + HOUR],
    ],
  ],
  'exchanges a code': [
    [
      'UPDATE oauth_families SET expires_at = ? WHERE id = ? AND revoked_at IS NULL',
      [NOW + 90 * HOUR, familyId('asked')],
    ],
    [
      'UPDATE oauth_authorization_codes SET spent_at = ? WHERE code_hash = ? AND spent_at IS NULL',
      [NOW, hashOf(plain('asked', 'code'))],
    ],
    [
      'INSERT INTO oauth_access_tokens (token_hash, client_id, family_id, scope, audience, issued_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
      [hashOf('access'), CLIENT.id, familyId('asked'), 'notes:read', null, NOW, NOW + HOUR],
    ],
  ],
  'issues a code': [
    [
      'INSERT INTO oauth_families (id, client_id, user_provider, user_id, subject, scope, audience, created_at, expires_at, revoked_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)',
      [familyId('new'), CLIENT.id, 'users', '1', 'subject-of-ada', 'notes:read', null, NOW, NOW + HOUR],
    ],
    [
      'INSERT INTO oauth_authorization_codes (code_hash, family_id, parameters, expires_at, spent_at) VALUES (?, ?, ?, ?, NULL)',
      [hashOf('code'), familyId('new'), '{}', NOW + HOUR],
    ],
  ],
  'issues a token to a client': [
    [
      'INSERT INTO oauth_access_tokens (token_hash, client_id, family_id, scope, audience, issued_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
      [hashOf('access'), CLIENT.id, null, 'notes:read', null, NOW, NOW + HOUR],
    ],
  ],
  'revokes a replayed token': [
    [
      `UPDATE oauth_families SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL AND NOT EXISTS
          (SELECT 1 FROM oauth_refresh_tokens WHERE token_hash = ? AND used_at IS NULL)`,
      [NOW, familyId('resting'), hashOf(marked('resting', 'current'))],
    ],
  ],
  'removes a family': [
    ['SELECT token_hash FROM oauth_refresh_tokens WHERE family_id IN (?) LIMIT 100', [familyId('resting')]],
    ['DELETE FROM oauth_families WHERE id = ?', [familyId('resting')]],
  ],
  'removes access tokens': [
    [
      'SELECT token_hash AS expired_key FROM oauth_access_tokens WHERE expires_at < ? ORDER BY expires_at LIMIT 100',
      [NOW + 90 * HOUR],
    ],
    ['DELETE FROM oauth_access_tokens WHERE expires_at < ?', [NOW + 90 * HOUR]],
  ],
};

/** What would issue tokens can be done no more from the first statement on. */
const ISSUING = [
  'uses a refresh token',
  'uses a refresh token without a mark',
  'exchanges a code',
  'issues a token to a client',
];

async function expectOldReleaseFails(
  database: Database,
  attempts: readonly string[] = Object.keys(AS_THE_RELEASE_BEFORE),
): Promise<void> {
  for (const what of attempts) {
    const statements = AS_THE_RELEASE_BEFORE[what] ?? [];
    const work = database.transaction(async (connection) => {
      for (const [sql, parameters] of statements) await connection.execute(sql, parameters);
    });
    await expect(work, what).rejects.toThrow(/column/i);
  }
}

describe('the steps to one row for each authorization', () => {
  // @shows AS-20.2
  test('cut off before any of their statements and run again lead to the same', async () => {
    let expected: Readonly<Record<string, unknown>> = {};
    let total = 0;
    let stride: number = SCALE.cutOffStrideByStatement;
    await withReleaseBefore(async (database) => {
      // Elsewhere the whole is one transaction, and it matters little where it ends.
      if (database.dialect !== 'mysql') stride = SCALE.cutOffStride;
      await migrate(
        database,
        watched(FROM_THERE, async () => {
          total += 1;
        }),
      );
      expected = await contents(database);
    });
    expect(total).toBeGreaterThan(15);
    for (let last = 1; last <= total; last += stride) {
      await withReleaseBefore(async (database) => {
        let count = 0;
        const cutOff = watched(FROM_THERE, async () => {
          count += 1;
          if (count === last) throw new Error('the power went');
        });
        await expect(migrate(database, cutOff)).rejects.toThrow('the power went');
        await migrate(database, FROM_THERE);
        expect(await contents(database), `cut off before statement ${last}`).toEqual(expected);
        expect(await migrate(database, FROM_THERE)).toEqual([]);
      });
    }
  });

  // @shows AS-20.2
  test('leave nothing that a process of the release before could do', async () => {
    await withReleaseBefore(async (database, other) => {
      // Where each statement commits by itself, from the first one on.
      let count = 0;
      await migrate(
        database,
        watched(FROM_THERE, async () => {
          count += 1;
          if (database.dialect !== 'mysql' || count === 1) return;
          await expectOldReleaseFails(other, ISSUING);
        }),
      );
      expect(count).toBeGreaterThan(15);
      const before = await contents(database);
      await expectOldReleaseFails(database);
      expect(await contents(database)).toEqual(before);
    });
  });
});

// --- under load -----------------------------------------------------------------------------------------------

/** A client that uses what it has, again and again, and notes what must not have happened. */
interface User {
  readonly attempt: () => Promise<number>;
  /** How often it was answered. */
  answered: number;
  attempts: number;
}

describe('a process of this release that was started before the steps', () => {
  // @shows AS-5.3, AS-18.1, AS-20.2
  test('answers nothing wrongly meanwhile, loses nothing, and works afterwards', async () => {
    const wrong: string[] = [];
    const users: User[] = [];
    const chains = new Map<string, Tokens>();
    const run = { isMigrated: false, isStopped: false };
    let waiting: (() => void)[] = [];

    const post = (application: Application, at: string, form: Record<string, string>, client = CLIENT) => {
      const basic = Buffer.from(`${client.id}:${client.secret}`).toString('base64');
      return application.fetch(
        new Request(new URL(at, application.publicUrl), {
          method: 'POST',
          headers: { Authorization: `Basic ${basic}`, 'Content-Type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams(form).toString(),
        }),
      );
    };

    function begin(application: Application): void {
      const token = async (form: Record<string, string>) => post(application, '/oauth/token', form);
      const codeForm = (name: string) => ({
        grant_type: 'authorization_code',
        code: plain(name, 'code'),
        redirect_uri: REDIRECT_URI,
        code_verifier: VERIFIER,
      });
      const use = (attempt: () => Promise<number>) => users.push({ attempt, answered: 0, attempts: 0 });

      /** Refreshes without end, from what the release before gave. */
      const refreshing = (name: string, first: Record<string, string>) =>
        use(async () => {
          const held = chains.get(name);
          const form =
            held === undefined ? first : { grant_type: 'refresh_token', refresh_token: held.refresh_token };
          const response = await token(form);
          if (response.status === 200) chains.set(name, (await response.json()) as Tokens);
          else if (response.status < 500) wrong.push(`${name}: ${response.status} for what is good`);
          return response.status;
        });
      const refreshForm = (value: string) => ({ grant_type: 'refresh_token', refresh_token: value });
      for (const name of ['resting', 'revocable', 'half', 'guessed', 'code again']) {
        refreshing(name, refreshForm(marked(name, 'current')));
      }
      refreshing('older', refreshForm(plain('older', 'current')));
      refreshing('asked', codeForm('asked'));

      /** What must be refused whenever it is offered. */
      const refused = (name: string, form: Record<string, string>) =>
        use(async () => {
          const { status } = await token(form);
          if (status < 400) wrong.push(`${name}: ${status} for what is spent`);
          return status === 400 ? 200 : status;
        });
      refused('replayed', refreshForm(marked('replayed', 'long ago')));
      refused('older replayed', refreshForm(plain('older replayed', 'used')));
      refused('half replayed', refreshForm(plain('half replayed', 'used')));
      refused('burnt', codeForm('burnt'));
      refused('revoked', refreshForm(marked('revoked', 'current')));

      for (const name of ['resting', 'without refresh', 'refresh over']) {
        use(async () => {
          const headers = { Authorization: `Bearer ${plain(name, 'access')}` };
          const url = new URL('/api/notes', application.publicUrl);
          const { status } = await application.fetch(new Request(url, { headers }));
          if (status >= 400 && status < 500)
            wrong.push(`${name}: ${status} for an access token that is good`);
          return status;
        });
      }
      // Guessing at a revoked token's family must end nothing, whatever of the row is there.
      use(async () => {
        const { status } = await token(
          refreshForm(`${familyId('resting')}.${markOf('older')}.${secret('x')}`),
        );
        if (status < 400) wrong.push(`a guess: ${status}`);
        return status === 400 ? 200 : status;
      });
    }

    async function work(user: User): Promise<void> {
      while (!run.isStopped) {
        const status = await user.attempt();
        user.attempts += 1;
        if (status === 200 && run.isMigrated) user.answered += 1;
        for (const resolve of waiting.splice(0)) resolve();
        await new Promise((resolve) => setImmediate(resolve));
      }
    }

    /** Waits until every user has done this, or something went wrong. */
    async function each(done: (user: User) => boolean): Promise<void> {
      while (wrong.length === 0 && !users.every(done))
        await new Promise<void>((resolve) => (waiting = [...waiting, resolve]));
    }

    let working: Promise<unknown> = Promise.resolve();
    running = await startPortal({
      // Requests of one client that are all its first have to wait for each other; with this draw none does.
      random: () => 0,
      async beforeSchema(application) {
        await releaseBefore(application);
        // Without these no client can authenticate, which would hide what the others do to its grants.
        await migrate(application.database, AFTERWARDS);
        begin(application);
        working = Promise.all(users.map(work));
        await each(({ attempts }) => attempts > 0);
        const { database } = application;
        // Where each statement commits by itself, requests come between any two of them.
        const steps = watched(FROM_THERE, async () => {
          if (database.dialect !== 'mysql') return;
          const sofar = new Map(users.map((user) => [user, user.attempts]));
          await each((user) => user.attempts > (sofar.get(user) ?? 0) + 1);
        });
        await migrate(database, steps);
        run.isMigrated = true;
      },
    });
    try {
      await each(({ answered }) => answered > 3);
      run.isStopped = true;
      await working;
      expect(wrong).toEqual([]);
      for (const [name, tokens] of chains) {
        expect([name, await api(tokens.access_token)]).toEqual([name, 200]);
        const next = await successor(tokens.refresh_token);
        expect(await refreshed(tokens.refresh_token)).toBe(400);
        expect(await api(next.access_token)).toBe(401);
      }
      for (const name of ['replayed', 'older replayed', 'half replayed']) await expectDead(name);
      expect(chains.size).toBe(7);
    } finally {
      run.isStopped = true;
      await working.catch(() => {});
      await running.close();
    }
  });
});

// --- generations ----------------------------------------------------------------------------------------------

describe('the generation of an authorization', () => {
  beforeAll(async () => {
    running = await startPortal({ beforeSchema: releaseBefore });
  });
  afterAll(() => running.close());

  // @shows AS-5.4, AS-5.5, AS-18.11
  test.each(['-1', '0', '7', '2147483647', '9007199254740991', '9007199254740993', '9223372036854775807'])(
    'decides nothing: at %s a refresh works or is a fault that spends nothing, and a replay is known',
    async (generation) => {
      const set = (at: string) =>
        running.application.database.execute(`UPDATE oauth_families SET refresh_generation = ${at}`);
      const name = `g${randomBytes(4).toString('hex')}`;
      await insertFamily(name);
      const first = await successor(marked(name, 'current'));
      await set(generation);
      const response = await refresh(running, CLIENT, first.refresh_token);
      expect([200, 500]).toContain(response.status);
      const answered = response.status === 200 ? [(await response.json()) as Tokens] : [];
      if (answered.length === 0) {
        await set('1');
        answered.push(await successor(first.refresh_token));
      } else await set(generation);
      const replay = await refreshed(marked(name, 'current'));
      await set('1');
      // Where a number cannot be read at all, the replay is a fault too, and known as soon as it can.
      expect([400, 500]).toContain(replay);
      expect(await refreshed(marked(name, 'current'))).toBe(400);
      await expectDead(name, first, ...answered);
    },
  );

  async function insertFamily(name: string): Promise<void> {
    const { database } = running.application;
    await database.execute(
      `INSERT INTO oauth_families (id, client_id, user_provider, user_id, subject, scope, audience, created_at, expires_at,
        prune_after, refresh_mark_hash, refresh_hash, refresh_generation, refresh_expires_at)
      SELECT ?, client_id, user_provider, user_id, subject, scope, audience, created_at, expires_at,
        prune_after, ?, ?, 1, refresh_expires_at FROM oauth_families WHERE id = ?`,
      [familyId(name), hashOf(markOf(name)), hashOf(marked(name, 'current')), familyId('resting')],
    );
  }
});
