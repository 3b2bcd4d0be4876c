// @engines all, long, needs git: it builds the last release, and runs it beside this code
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { migrate, openDatabase, type Migration, type OpenedDatabase } from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  consoleOf,
  HERE,
  portico,
  start,
  type Installed,
  type RunningProcess,
} from '../support/console.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import {
  ADA,
  authorizationUrl,
  callApi,
  errorOf,
  exchangeCode,
  obtainCode,
  PASSWORD,
  REDIRECT_URI,
  refresh,
  requestToken,
  signIn,
  type ReachablePortal,
  type TestClient,
  type Tokens,
} from '../support/portal.ts';
import { push } from '../support/pushing.ts';
import { buildRelease, readReleases } from '../support/released.ts';
import { startProxy, type RunningProxy } from '../support/reverse-proxy.ts';
import { findLost, readTables, type TableRows } from '../support/table-rows.ts';
import { createVisitor, locationOf, type Visitor } from '../support/visitor.ts';

/**
 * The steps of docs/upgrade.md, with the last release and this code: migrate, run both versions
 * behind one address, replace the last old process, and go back.
 */
const PORTAL_CONFIG = JSON.stringify({
  oauth_server: { audit: { keep: true }, pushed_authorization_requests: 'accept' },
});
const SCOPES = 'openid,profile,email,notes:read,notes:write';

/** One version of Portico, with its process. */
interface Version extends ReachablePortal {
  readonly installed: Installed;
  readonly port: number;
  process: RunningProcess | null;
}

/** What the old version issued before the upgrade. */
interface Before {
  readonly session: Visitor;
  readonly tokens: Tokens;
  readonly code: string;
  readonly usedCode: string;
  readonly usedRefreshToken: string;
  readonly ended: Tokens;
  readonly service: string;
  readonly pushedUri: string;
  readonly consentPage: Response;
  /** A browser without a session, at the sign-in page of a request. */
  readonly waiting: Visitor;
  readonly signInPage: Response;
}

let folder: string;
let created: TestDatabase;
let database: OpenedDatabase;
let proxy: RunningProxy;
let old: Version;
let current: Version;
let client: TestClient;
let service: TestClient;
let before: Before;
let rowsBefore: TableRows;

beforeAll(async () => {
  const release = readReleases().at(-1);
  if (release === undefined) throw new Error('tools/release/releases.json has no release');
  const installed = buildRelease(release);
  folder = await mkdtemp(path.join(tmpdir(), 'portico-upgrade-'));
  created = await createDatabase(folder);
  database = openDatabase(created.url, { directory: folder });
  proxy = await startProxy();
  old = await version(installed);
  current = await version(HERE);
  await command(old, 'db:migrate', 'up');
  await command(old, 'oauth:server:setup');
  await command(old, 'account:create', ADA, 'Ada Lovelace', '--password', PASSWORD);
  for (const permission of ['notes:read', 'notes.edit'])
    await command(old, 'account:grant', ADA, permission);
  client = await createClient('--redirect', REDIRECT_URI, '--scope', SCOPES);
  service = await createClient(
    '--grant',
    'client_credentials',
    '--grant',
    'introspection',
    '--scope',
    'notes:read',
  );
  await serve(old);
  proxy.leadTo(old.port);
  before = await issueEverything();
  rowsBefore = await readTables(database);
});
afterAll(async () => {
  for (const each of [old, current]) await each.process?.stop();
  await proxy.close();
  await database.close();
  await created.drop();
  await rm(folder, { recursive: true });
});

async function version(installed: Installed): Promise<Version> {
  const port = await freePort();
  return { installed, port, url: `http://127.0.0.1:${port}`, process: null };
}

const surroundings = ({ installed, port }: Version, databaseUrl = created.url) => ({
  cwd: path.join(installed.folder, 'test', 'fixtures', 'configured-portal'),
  installed,
  env: {
    APP_ENV: 'dev',
    PORT: String(port),
    PUBLIC_URL: proxy.url,
    STORAGE_DIR: folder,
    DATABASE_URL: databaseUrl,
    PORTAL_CONFIG,
  },
});

/** Runs a console command of this version, and returns what it prints. */
async function command(at: Version, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await portico(args, surroundings(at));
  if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
  return stdout;
}

async function createClient(...options: readonly string[]): Promise<TestClient> {
  const printed = await command(old, 'oauth:client:create', 'Notes', ...options, '--json');
  const { client_id: id, client_secret: secret } = JSON.parse(printed) as Record<string, string>;
  return { id: id ?? '', secret: secret ?? '' };
}

async function serve(at: Version): Promise<void> {
  at.process = start([consoleOf(at.installed), 'serve'], surroundings(at));
  await at.process.says('Listening on');
}

/** Stops one version and lets the other serve the public address. */
async function replace(stopped: Version, by: Version): Promise<void> {
  proxy.leadTo(by.port);
  await stopped.process?.stop();
  stopped.process = null;
}

/** A browser that is signed in by the version that serves the public address. */
async function signedIn(): Promise<Visitor> {
  const visitor = createVisitor(proxy.url);
  await signIn(visitor, await visitor.get('/login'), ADA);
  return visitor;
}

const tokensOf = async (response: Response) => {
  expect(response.status).toBe(200);
  return (await response.json()) as Tokens;
};

async function newCode(visitor: Visitor): Promise<string> {
  return obtainCode(proxy, client, visitor);
}

const newTokens = async (at: Version, visitor: Visitor) =>
  tokensOf(await exchangeCode(at, client, await newCode(visitor)));

async function serviceToken(at: Version): Promise<string> {
  const answer = await requestToken(at, service, { grant_type: 'client_credentials' });
  return (await tokensOf(answer)).access_token;
}

async function issueEverything(): Promise<Before> {
  const session = await signedIn();
  const waiting = createVisitor(proxy.url);
  const first = await newTokens(old, session);
  const ended = await newTokens(old, session);
  await revoke(old, ended.refresh_token);
  const usedCode = await newCode(session);
  await tokensOf(await exchangeCode(old, client, usedCode));
  const pushed = (await (await push(old, client)).json()) as { request_uri: string };
  return {
    session,
    tokens: await tokensOf(await refresh(old, client, first.refresh_token)),
    code: await newCode(session),
    usedCode,
    usedRefreshToken: (await used(old, session)).refresh_token,
    ended,
    service: await serviceToken(old),
    pushedUri: pushed.request_uri,
    waiting,
    signInPage: await waiting.visit(authorizationUrl(proxy, client)),
    consentPage: await session.visit(authorizationUrl(proxy, client)),
  };
}

/** Returns tokens whose refresh token was used. */
async function used(at: Version, visitor: Visitor): Promise<Tokens> {
  const tokens = await newTokens(at, visitor);
  await tokensOf(await refresh(at, client, tokens.refresh_token));
  return tokens;
}

function revoke(at: Version, token: string): Promise<Response> {
  const credentials = { client_id: client.id, client_secret: client.secret };
  const body = new URLSearchParams({ token, ...credentials });
  return fetch(`${at.url}/oauth/revoke`, { method: 'POST', body });
}

const apiStatus = async (at: Version, token: string) =>
  (await callApi(at, '/api/whoami', token)).status;

/** Checks in both versions that these tokens are alive, or that they are not. */
async function expectAlive(accessToken: string, isAlive: boolean): Promise<void> {
  for (const at of [old, current])
    expect(await apiStatus(at, accessToken)).toBe(isAlive ? 200 : 401);
}

async function expectRefused(answer: Response): Promise<void> {
  expect({ status: answer.status, error: await errorOf(answer) }).toEqual({
    status: 400,
    error: 'invalid_grant',
  });
}

/** Returns the code in the redirect that follows the consent of this person. */
async function allow(visitor: Visitor, page: Response): Promise<string> {
  expect(page.status).toBe(200);
  const answer = locationOf(await visitor.submit(page, { decision: 'allow' }));
  return answer.searchParams.get('code') ?? '';
}

/** Returns the printed SQL of each step, by its name. */
async function printedSteps(at: Version, databaseUrl: string): Promise<Record<string, string>> {
  const { stdout } = await portico(['db:migrate', 'up', '--print'], surroundings(at, databaseUrl));
  const [, ...steps] = stdout.split(/^-- (?=\w+_\d{4}_)/m);
  return Object.fromEntries(steps.map((step) => [step.split('\n')[0], step]));
}

describe('the schema after an upgrade', () => {
  // @shows AS-20.1
  test('has every step of the release unchanged', async () => {
    const empty = await createDatabase(folder);
    const released = await printedSteps(old, empty.url);
    expect(Object.keys(released)).toContain('oauth_server_0001_initial');
    expect(await printedSteps(current, empty.url)).toMatchObject(released);
    await empty.drop();
  });

  // @shows AS-20.1
  test('keeps every table, column and row if the old process is running during the migration', async () => {
    await command(current, 'db:migrate', 'up');
    expect(findLost(rowsBefore, await readTables(database))).toEqual([]);
    expect(await apiStatus(old, before.tokens.access_token)).toBe(200);
    await serve(current);
  });
});

describe('tokens and requests of the release stay valid, and ended ones stay ended, in both versions', () => {
  test('for access tokens of people and of programs', async () => {
    await expectAlive(before.tokens.access_token, true);
    await expectAlive(before.ended.access_token, false);
    const body = new URLSearchParams({
      token: before.service,
      client_id: service.id,
      client_secret: service.secret,
    });
    for (const { url } of [old, current]) {
      const answer = await fetch(`${url}/oauth/introspect`, { method: 'POST', body });
      expect(await answer.json()).toMatchObject({ active: true, scope: 'notes:read' });
    }
  });

  test('for a code, which works once', async () => {
    const tokens = await tokensOf(await exchangeCode(current, client, before.code));
    await expectAlive(tokens.access_token, true);
    await expectRefused(await exchangeCode(old, client, before.code));
    await expectAlive(tokens.access_token, false);
    await expectRefused(await exchangeCode(current, client, before.usedCode));
  });

  test('for a refresh token, which works once', async () => {
    await expectRefused(await refresh(current, client, before.usedRefreshToken));
    await expectRefused(await refresh(current, client, before.ended.refresh_token));
    const tokens = await tokensOf(await refresh(current, client, before.tokens.refresh_token));
    await expectAlive(tokens.access_token, true);
    await expectRefused(await refresh(old, client, before.tokens.refresh_token));
    await expectAlive(tokens.access_token, false);
  });

  test('for a session, an open consent page, a pushed request, and a request waiting for sign-in', async () => {
    proxy.leadTo(current.port);
    const { session, consentPage, pushedUri, waiting, signInPage } = before;
    const pushed = new URL('/oauth/authorize', proxy.url);
    pushed.search = new URLSearchParams({
      client_id: client.id,
      request_uri: pushedUri,
    }).toString();
    const afterSignIn = locationOf(await signIn(waiting, signInPage, ADA));
    const codes = [
      await allow(session, consentPage),
      await allow(session, await session.visit(pushed.href)),
      await allow(waiting, await waiting.visit(afterSignIn.href)),
    ];
    for (const code of codes) await tokensOf(await exchangeCode(current, client, code));
  });
});

describe('while both versions serve', () => {
  test('each accepts the codes and refresh tokens of the other, once', async () => {
    for (const [issuer, other] of [
      [old, current],
      [current, old],
    ] as const) {
      proxy.leadTo(issuer.port);
      const code = await newCode(await signedIn());
      proxy.leadTo(other.port);
      const first = await tokensOf(await exchangeCode(other, client, code));
      const second = await tokensOf(await refresh(issuer, client, first.refresh_token));
      const third = await tokensOf(await refresh(other, client, second.refresh_token));
      await expectAlive(third.access_token, true);
      await expectRefused(await refresh(issuer, client, first.refresh_token));
      await expectAlive(third.access_token, false);
      await expectRefused(await refresh(other, client, third.refresh_token));
    }
  });

  test('at most one of several simultaneous uses of one code in both gets tokens', async () => {
    const session = await signedIn();
    for (let round = 0; round < 5; round += 1) {
      const code = await newCode(session);
      const uses = [old, current, old, current].map((at) => exchangeCode(at, client, code));
      const statuses = (await Promise.all(uses)).map(({ status }) => status);
      expect(statuses.toSorted((one, other) => one - other)).toEqual([200, 400, 400, 400]);
    }
  });

  test('a consent page of one can be answered at the other', async () => {
    for (const [shows, answers] of [
      [old, current],
      [current, old],
    ] as const) {
      proxy.leadTo(shows.port);
      const session = await signedIn();
      const page = await session.visit(authorizationUrl(proxy, client));
      proxy.leadTo(answers.port);
      const code = await allow(session, page);
      await tokensOf(await exchangeCode(shows, client, code));
    }
  });

  test('what one ends is ended in the other', async () => {
    const session = await signedIn();
    const [first, second] = [await newTokens(old, session), await newTokens(current, session)];
    await revoke(current, first.refresh_token);
    await revoke(old, second.refresh_token);
    await expectAlive(first.access_token, false);
    await expectAlive(second.access_token, false);
  });

  test('each publishes a key that the other generates', async () => {
    const kidsAt = async ({ url }: Version) => {
      const { keys } = (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as {
        keys: readonly { kid: string }[];
      };
      return keys.map(({ kid }) => kid).toSorted();
    };
    const kids = await kidsAt(old);
    for (const at of [old, current]) {
      await command(at, 'oauth:keys:generate');
      await expect.poll(() => kidsAt(old), { timeout: 10_000 }).toHaveLength(kids.length + 1);
      await expect.poll(() => kidsAt(current), { timeout: 10_000 }).toEqual(await kidsAt(old));
      kids.push('one more');
    }
  });
});

test('without the commit of the release, the error says how to fetch it', () => {
  const release = { version: '0.0.1', commit: '0'.repeat(40), date: '2026-01-01' };
  expect(() => buildRelease(release)).toThrow(`git fetch --depth 1 origin ${release.commit}`);
});

describe('a downgrade', () => {
  test('works: the release runs on the new schema with what the new version issued', async () => {
    proxy.leadTo(current.port);
    const session = await signedIn();
    const tokens = await newTokens(current, session);
    const code = await newCode(session);
    const spent = (await used(current, session)).refresh_token;
    await replace(old, current);
    await serve(old);
    await replace(current, old);
    expect(await apiStatus(old, tokens.access_token)).toBe(200);
    await tokensOf(await exchangeCode(old, client, code));
    await tokensOf(await refresh(old, client, tokens.refresh_token));
    await expectRefused(await refresh(old, client, spent));
    await newTokens(old, session);
  });
});

describe('the check of a migration finds the loss of', () => {
  test.each<[string, readonly string[], readonly string[]]>([
    ['nothing', ['ALTER TABLE oauth_families ADD COLUMN later INTEGER'], []],
    [
      'a value',
      [`UPDATE oauth_clients SET name = 'Portico' WHERE client_id = '{client}'`],
      ['values in 1 rows of oauth_clients'],
    ],
    [
      'a row',
      [`DELETE FROM oauth_access_tokens WHERE client_id = '{service}'`],
      ['values in 1 rows of oauth_access_tokens'],
    ],
    [
      'a column',
      ['ALTER TABLE oauth_families DROP COLUMN details'],
      ['the column oauth_families.details'],
    ],
    ['a table', ['DROP TABLE host_sessions'], ['the table host_sessions']],
  ])('%s', async (lost, statements, found) => {
    const step: Migration = {
      name: `test_0001_loses_${lost.replace(' ', '_')}`,
      async up(schema) {
        for (const statement of statements) {
          const sql = statement.replace('{client}', client.id).replace('{service}', service.id);
          await (/^(?:ALTER|DROP)/.test(sql) ? schema.change(sql) : schema.execute(sql));
        }
      },
    };
    const rows = await readTables(database);
    expect(await migrate(database, [step])).toEqual([step.name]);
    expect(findLost(rows, await readTables(database))).toEqual(found);
  });
});
