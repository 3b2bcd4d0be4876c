import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { claimsOf, headerOf, newKey, signed, withAssertion } from './support/assertions.ts';
import {
  ADA,
  authorizationUrl,
  callApi,
  exchangeCode,
  obtainCode,
  refresh,
  registerClient,
  requestToken,
  startPortal,
  type RunningPortal,
  type Tokens,
} from './support/portal.ts';

/** Every value that the server issued during the whole flow, by name. */
const handedOut = new Map<string, string>();
let portal: RunningPortal;

beforeAll(async () => {
  portal = await startPortal({
    config: { oauth_server: { private_key_jwt: true, audit: { keep: true } } },
  });
  const client = await registerClient(portal);
  const visitor = await portal.signedIn(ADA);
  const code = await obtainCode(portal, client, visitor);
  // One request that waits for sign-in in a cookie, and a longer one that waits in the store.
  const waiting = portal.visitor();
  for (const state of ['short', 's'.repeat(5000)]) {
    const asked = await waiting.get(authorizationUrl(portal, client, { state }));
    const id = /request_id%3D([\w-]{43})/.exec(asked.headers.get('location') ?? '')?.[1] ?? '';
    handedOut.set(`id of a request that waits, ${state.length} characters`, id);
  }
  const first = (await (await exchangeCode(portal, client, code)).json()) as Tokens;
  const second = (await (await refresh(portal, client, first.refresh_token)).json()) as Tokens;
  await callApi(portal, '/oauth/userinfo', second.access_token);
  // Failures are logged too.
  await exchangeCode(portal, client, code);
  await callApi(portal, '/api/notes', 'invented-token-that-is-long-enough');
  await portal.application.database.execute('ALTER TABLE oauth_access_tokens RENAME TO gone');
  await callApi(portal, '/api/notes', second.access_token);
  await refresh(portal, client, second.refresh_token);
  await portal.application.database.execute('ALTER TABLE gone RENAME TO oauth_access_tokens');
  await useAssertion();
  handedOut.set('client secret', client.secret);
  handedOut.set('session id', visitor.cookies().split('=')[1] ?? '');
  handedOut.set('code', code);
  handedOut.set('access token', first.access_token);
  handedOut.set('refresh token', first.refresh_token);
  const [, shared = '', own = ''] = first.refresh_token.split('.');
  handedOut.set('what the refresh tokens share', shared);
  handedOut.set('what is the refresh token alone', own);
  handedOut.set('second access token', second.access_token);
  handedOut.set('second refresh token', second.refresh_token);
  handedOut.set('ID token', first.id_token);
});
afterAll(() => portal.close());

/** An assertion of a client with its own keys. It is used, and rejected when it is used again. */
async function useAssertion(): Promise<void> {
  const key = newKey('ES256');
  const { client } = await portal.server.clients.create({
    name: 'A service',
    scopes: ['notes:read'],
    grants: ['client_credentials'],
    jwks: { keys: [key.jwk] },
  });
  const claims = claimsOf(client.id, portal.server.issuer, Date.now());
  const assertion = signed(key, headerOf(key), claims);
  const form = { grant_type: 'client_credentials', ...withAssertion(assertion) };
  expect((await requestToken(portal, null, form)).status).toBe(200);
  expect((await requestToken(portal, null, form)).status).toBe(401);
  for (const part of assertion.split('.').slice(1))
    handedOut.set(`part of an assertion: ${part}`, part);
  handedOut.set('jti of an assertion', String(claims['jti']));
}

const TABLES = {
  sqlite: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  postgres: "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
  mysql: 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = database()',
} as const;

async function dump(): Promise<string> {
  const { database } = portal.application;
  const { rows: tables } = await database.execute<{ name: string }>(TABLES[database.dialect]);
  expect(tables.length).toBeGreaterThan(8);
  const contents = await Promise.all(
    tables.map(async ({ name }) => ({
      name,
      rows: (await database.execute(`SELECT * FROM ${name}`)).rows,
    })),
  );
  const empty = contents.filter(({ rows }) => rows.length === 0).map(({ name }) => name);
  // A check of an empty table would prove nothing. This flow has no logos and no notes.
  expect(empty.toSorted()).toEqual(['oauth_client_logos', 'portal_notes']);
  return JSON.stringify(contents);
}

describe('stored credentials', () => {
  // @shows AS-4.3, AS-13.3, AS-18.4, RFC6749-10.3a, RFC9700-4.9, RFC9700-4.14.2d
  test('are not in plain text in the database after a full flow: no code, token or secret', async () => {
    const contents = await dump();
    for (const [name, value] of handedOut) {
      expect(value.length, name).toBeGreaterThan(20);
      expect(contents.includes(value), name).toBe(false);
    }
  });

  // This process cannot read the files of a database server.
  const ownFiles = inject('databaseServer') === undefined;
  // @shows AS-18.4
  test('are not in plain text in any file of the storage, including a file store', async () => {
    const folder = portal.env['STORAGE_DIR'] ?? '';
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => path.join(parentPath, name));
    expect(files.some((name) => name.includes('sqlite'))).toBe(ownFiles);
    for (const file of files) {
      const bytes = await readFile(file);
      for (const [name, value] of handedOut)
        expect(bytes.includes(value), `${name} in ${file}`).toBe(false);
    }
  });

  // @shows AS-19.2, RFC6749-10.3a, RFC9700-4.9
  test('are not in the log, which still reports faults', async () => {
    const log = await readFile(path.join(portal.env['STORAGE_DIR'] ?? '', 'app.log'), 'utf8');
    expect(log).toContain('oauth_access_tokens');
    for (const [name, value] of handedOut) expect(log.includes(value), name).toBe(false);
  });

  // @shows AS-18.14
  test('that are signing keys can be read only by their owner', async () => {
    const directory = portal.server.config.key_path;
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    const files = await readdir(directory);
    expect(files.length).toBeGreaterThan(0);
    for (const file of files)
      expect((await stat(path.join(directory, file))).mode & 0o777).toBe(0o600);
  });
});
