import { AUDIT, type AuditEvent } from 'portico';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { porticoHere, ROOT } from './support/console.ts';
import { createLosingStore, openStore } from './support/opened-store.ts';
import { createClock } from './support/clock.ts';
import {
  ADA,
  authorizationUrl,
  exchangeCode,
  introspect,
  obtainCode,
  obtainTokens,
  refresh,
  registerClient,
  requestToken,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';

const clock = createClock();
const events: AuditEvent[] = [];
let portal: RunningPortal;
let client: TestClient;
let failing = false;

beforeAll(async () => {
  portal = await startPortal({ clock: clock.now });
  portal.application.events.on(AUDIT, (event: AuditEvent) => {
    events.push(event);
    if (failing) throw new Error('the audit log is full');
  });
});
afterAll(() => portal.close());
beforeEach(async () => {
  client = await registerClient(portal);
  events.length = 0;
});

const log = () => readFile(path.join(portal.env['STORAGE_DIR'] ?? '', 'app.log'), 'utf8');
const types = () => events.map(({ type }) => type);
/** Without the client that introspects. */
const ofTokens = () => events.filter(({ type }) => type !== 'client_registered');
const revoke = (token: string, { id, secret } = client, at = portal) =>
  fetch(`${at.url}/oauth/revoke`, {
    method: 'POST',
    headers: { Authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
    body: new URLSearchParams({ token }),
  });

describe('events for the audit log of a host', () => {
  // @shows AS-4.6, AS-19.1
  test('record the whole lifecycle: granted, issued, refreshed, replayed and revoked', async () => {
    const code = await obtainCode(portal, client, await portal.signedIn(ADA));
    const first = (await (await exchangeCode(portal, client, code)).json()) as Tokens;
    const second = (await (await refresh(portal, client, first.refresh_token)).json()) as Tokens;
    await refresh(portal, client, first.refresh_token);
    expect(types()).toEqual([
      'consent_granted',
      'tokens_issued',
      'tokens_issued',
      'refresh_token_replayed',
      'family_revoked',
    ]);
    const scopes = ['openid', 'profile', 'email', 'notes:read', 'notes:write'];
    const [granted] = events;
    expect(granted).toMatchObject({ clientId: client.id, scopes, audience: null });
    const person = granted?.type === 'consent_granted' ? granted.person : null;
    expect(
      await portal.application.accounts.find(person ?? { provider: '', id: '' }),
    ).toMatchObject({
      email: ADA,
    });
    for (const event of events) expect(event).toMatchObject({ clientId: client.id, person });
    expect(events[1]).toMatchObject({ grantType: 'authorization_code', scopes });
    expect(events[2]).toMatchObject({ grantType: 'refresh_token', scopes });
    expect(events[4]).toMatchObject({ reason: 'replay' });

    const told = JSON.stringify(events);
    const { rows } = await portal.application.database.execute<{ refresh_hash: string }>(
      'SELECT refresh_hash FROM oauth_families',
    );
    const handedOut = [first, second].flatMap((tokens) => [
      tokens.access_token,
      tokens.refresh_token,
      tokens.id_token,
    ]);
    for (const secret of [
      code,
      client.secret,
      ...handedOut,
      ...rows.map((row) => row.refresh_hash),
    ]) {
      expect(told).not.toContain(secret);
    }
  });

  // @shows AS-19.1
  test('record a denied consent', async () => {
    const visitor = await portal.signedIn(ADA);
    await visitor.submit(await visitor.get(authorizationUrl(portal, client)), { decision: 'deny' });
    expect(events).toEqual([
      { type: 'consent_denied', clientId: client.id, person: expect.anything() },
    ]);
  });

  // @shows AS-19.1
  test('record a second use of a code', async () => {
    const code = await obtainCode(portal, client, await portal.signedIn(ADA));
    await exchangeCode(portal, client, code);
    await exchangeCode(portal, client, code);
    expect(types()).toEqual([
      'consent_granted',
      'tokens_issued',
      'code_replayed',
      'family_revoked',
    ]);
  });

  // @shows AS-19.11
  test('record at most five repeated replays per minute, and each one is logged', async () => {
    const code = await obtainCode(portal, client, await portal.signedIn(ADA));
    const { refresh_token: spent } = (await (
      await exchangeCode(portal, client, code)
    ).json()) as Tokens;
    await refresh(portal, client, spent);
    const logged = async () => (await log()).split('refresh token was used before').length;
    const before = await logged();
    const replays = () => types().filter((type) => type === 'refresh_token_replayed').length;
    for (let count = 0; count < 20; count += 1) await refresh(portal, client, spent);
    expect([replays(), types().filter((type) => type === 'family_revoked').length]).toEqual([6, 1]);
    expect(await logged()).toBeGreaterThanOrEqual(before + 20);
    clock.advance(61);
    for (let count = 0; count < 20; count += 1) await refresh(portal, client, spent);
    expect(replays()).toBe(11);
  });

  // @shows AS-19.1
  test('record the revocation of an authorization once, by the application or the person', async () => {
    const visitor = await portal.signedIn(ADA);
    const authorize = async () =>
      (await (
        await exchangeCode(portal, client, await obtainCode(portal, client, visitor))
      ).json()) as Tokens;
    const { refresh_token: token } = await authorize();
    await authorize();
    events.length = 0;
    await revoke(token);
    await revoke(token);
    await visitor.submit(await visitor.get('/oauth/applications'));
    expect(events).toMatchObject([
      { type: 'family_revoked', reason: 'client', clientId: client.id },
      { type: 'family_revoked', reason: 'person', clientId: client.id },
    ]);
  });

  // @shows AS-19.1, AS-19.7, AS-19.12
  test('record the revocation of an access token with its person, without the token', async () => {
    const { access_token: token, refresh_token: refreshToken } = await obtainTokens(
      portal,
      client,
      ADA,
    );
    const [granted] = events.filter((event) => event.type === 'consent_granted');
    events.length = 0;
    expect((await revoke(token)).status).toBe(200);
    expect((await revoke(token)).status).toBe(200);
    const { authorization, person } = granted ?? {};
    expect(person).toMatchObject({ id: expect.any(String) });
    expect(events).toEqual([
      { type: 'access_token_revoked', clientId: client.id, person, authorization },
    ]);
    expect((await introspect(portal, token))['active']).toBe(false);
    const { access_token: next } = (await (
      await refresh(portal, client, refreshToken)
    ).json()) as Tokens;
    await revoke(next);
    expect(ofTokens().map(({ type }) => type)).toEqual([
      'access_token_revoked',
      'tokens_issued',
      'access_token_revoked',
    ]);
  });

  // @shows AS-19.12
  test('record the revocation of a client_credentials token without person and authorization', async () => {
    const robot = await registerClient(portal, {
      redirectUris: [],
      grants: ['client_credentials'],
      scopes: ['notes:read'],
    });
    const issued = await requestToken(portal, robot, { grant_type: 'client_credentials' });
    const { access_token: token } = (await issued.json()) as Tokens;
    events.length = 0;
    await revoke(token);
    expect(events).toEqual([]);
    await revoke(token, robot);
    await revoke(token, robot);
    expect(events).toEqual([
      { type: 'access_token_revoked', clientId: robot.id, person: null, authorization: null },
    ]);
  });

  // @shows AS-19.12
  test('do not record the revocation of an unknown, foreign, malformed or invalid token', async () => {
    const other = await registerClient(portal);
    const ended = await obtainTokens(portal, client, ADA);
    await revoke(ended.refresh_token);
    const tokens = await obtainTokens(portal, client, ADA);
    const { access_token: token } = tokens;
    const code = await obtainCode(portal, client, await portal.signedIn(ADA));
    events.length = 0;
    await revoke(token, other);
    const [id = '', secret = ''] = token.split('.');
    const offered = [
      `${id}.${'x'.repeat(43)}`,
      `${'0'.repeat(32)}.${secret}`,
      id,
      secret,
      'unknown',
      code,
    ];
    for (const each of [...offered, ended.access_token, `${token}.`, ` ${token}`])
      await revoke(each);
    expect((await introspect(portal, token))['active']).toBe(true);
    clock.advance(3600);
    await revoke(token);
    expect(ofTokens()).toEqual([]);
  });

  // @shows AS-19.12
  test.each([
    ['without effect (the retry is recorded)', false, ['access_token_revoked']],
    ['that took effect (nothing is recorded)', true, []],
  ])(
    'record a token revocation with a lost statement only if it is retried: a statement %s',
    async (_, afterwards, told) => {
      const opened = await openStore();
      onTestFinished(() => opened.close());
      const losing = createLosingStore(opened.inner);
      const at = await startPortal({ database: losing.database });
      onTestFinished(() => at.close());
      const own = await registerClient(at);
      const { access_token: token } = await obtainTokens(at, own, ADA);
      const heard: AuditEvent[] = [];
      at.application.events.on(AUDIT, (event: AuditEvent) => {
        heard.push(event);
      });
      losing.loses = { statement: /^DELETE FROM oauth_access_tokens/, afterwards };
      expect([(await revoke(token, own, at)).status, heard]).toEqual([503, []]);
      expect((await revoke(token, own, at)).status).toBe(200);
      expect(heard.map(({ type }) => type)).toEqual(told);
      expect((await introspect(at, token))['active']).toBe(false);
    },
  );

  test('record tokens that an application obtains for itself', async () => {
    const robot = await registerClient(portal, {
      redirectUris: [],
      grants: ['client_credentials'],
      scopes: ['notes:read'],
    });
    await requestToken(portal, robot, { grant_type: 'client_credentials' });
    expect(events).toMatchObject([
      { type: 'client_registered', clientId: robot.id, registeredBy: 'operator' },
      { type: 'tokens_issued', grantType: 'client_credentials', person: null, authorization: null },
    ]);
  });

  // @shows AS-19.1
  test('record a rotated secret and a revoked client', async () => {
    await portal.server.clients.rotateSecret(client.id, 60);
    await portal.server.clients.revoke(client.id);
    expect(events).toMatchObject([
      { type: 'secret_rotated', clientId: client.id, previousExpiresAt: expect.any(Number) },
      { type: 'client_revoked', clientId: client.id, registeredBy: 'operator' },
    ]);
  });

  // @shows AS-19.1, AS-19.2
  test('record failed client authentication with the address, and the id only if it is known', async () => {
    await requestToken(
      portal,
      { ...client, secret: 'guess' },
      { grant_type: 'client_credentials' },
    );
    await requestToken(portal, { id: 'my secret by mistake', secret: 'x' }, { grant_type: 'x' });
    expect(events).toEqual([
      { type: 'client_authentication_failed', clientId: client.id, address: '127.0.0.1' },
      { type: 'client_authentication_failed', clientId: null, address: '127.0.0.1' },
    ]);
  });

  // @shows HOST-1.7, RFC9700-4.13
  test('use the address from a proxy only if a proxy is configured', async () => {
    await fetch(`${portal.url}/oauth/token`, {
      method: 'POST',
      headers: { 'X-Forwarded-For': '198.51.100.7', Forwarded: 'for=198.51.100.7' },
      body: new URLSearchParams({ client_id: client.id, client_secret: 'guess' }),
    });
    expect(events).toMatchObject([{ type: 'client_authentication_failed', address: '127.0.0.1' }]);
  });

  // @shows AS-19.5
  test('name the console or the person for an action of an administrator, and otherwise nothing', async () => {
    const file = path.join(portal.env['STORAGE_DIR'] ?? '', 'events.jsonl');
    const run = (...args: string[]) =>
      porticoHere(args, {
        cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
        env: { ...portal.env, EVENTS_TO: file },
      });
    const created = await run(
      'oauth:client:create',
      'Of the console',
      '--redirect=https://a.example/cb',
      '--scope=openid',
      '--json',
    );
    const { client_id: id } = JSON.parse(created.stdout) as { readonly client_id: string };
    await run('oauth:client:rotate-secret', id);
    await run('oauth:client:revoke', id);
    await run('oauth:client:revoke', 'https://blocked.example/client.json');
    await run('oauth:client:unblock', 'https://blocked.example/client.json');
    const token = await run('oauth:initial-access-token:create', '--json');
    const made = JSON.parse(token.stdout) as {
      readonly id: string;
      readonly initial_access_token: string;
    };
    await run('oauth:initial-access-token:revoke', made.id);
    const told = await readFile(file, 'utf8');
    const lines = told.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as AuditEvent)).toMatchObject(
      [
        { type: 'client_registered', clientId: id },
        { type: 'secret_rotated', clientId: id },
        { type: 'client_revoked', clientId: id },
        { type: 'client_revoked', registeredBy: 'document' },
        { type: 'client_unblocked', registeredBy: 'document' },
        { type: 'initial_access_token_created', initialAccessTokenId: made.id },
        { type: 'initial_access_token_revoked', initialAccessTokenId: made.id },
      ].map((event) => ({ ...event, by: 'console' })),
    );
    expect(told).not.toContain(made.initial_access_token);

    const by = { provider: 'accounts', id: 'the administrator' };
    await portal.server.clients.rotateSecret(client.id, 60, { by });
    await portal.server.clients.revoke(client.id);
    expect(events).toMatchObject([{ type: 'secret_rotated', by }, { type: 'client_revoked' }]);
    expect(events[1]).not.toHaveProperty('by');
  });

  test('do not record introspection and refusals that change nothing', async () => {
    await introspect(portal, 'garbage');
    await refresh(portal, client, 'garbage');
    expect(types()).toEqual(['client_registered']);
  });

  test('are not affected by a listener that fails, which is logged', async () => {
    failing = true;
    const code = await obtainCode(portal, client, await portal.signedIn(ADA));
    expect((await exchangeCode(portal, client, code)).status).toBe(200);
    failing = false;
    const log = await readFile(path.join(portal.env['STORAGE_DIR'] ?? '', 'app.log'), 'utf8');
    expect(log).toContain('the audit log is full');
  });
});
