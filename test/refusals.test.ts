import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClock } from './support/clock.ts';
import {
  ADA,
  authorizationUrl,
  callApi,
  exchangeCode,
  obtainCode,
  refresh,
  obtainTokens,
  REDIRECT_URI,
  registerClient,
  requestToken,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import { formOf } from './support/visitor.ts';

let portal: RunningPortal;
let client: TestClient;
const clock = createClock();

beforeAll(async () => {
  portal = await startPortal({ clock: clock.now });
  client = await registerClient(portal);
});
afterAll(() => portal.close());

type Line = Readonly<Record<string, unknown>>;

/** The log lines about the request of this response. */
async function linesOf(response: Response): Promise<readonly Line[]> {
  const log = await readFile(`${portal.env['STORAGE_DIR'] ?? ''}/app.log`, 'utf8').catch(() => '');
  const id = response.headers.get('x-request-id');
  expect(id).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  return log
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => line['requestId'] === id);
}

describe('the ID of a request', () => {
  // @shows AS-19.3
  test('is the X-Request-Id that was sent, if it is a simple word', async () => {
    const response = await fetch(`${portal.url}/.well-known/jwks.json`, {
      headers: { 'X-Request-Id': 'edge-7.a_B' },
    });
    expect(response.headers.get('x-request-id')).toBe('edge-7.a_B');
  });

  // @shows AS-19.3
  test.each(['two words', 'a"quote', '', 'x'.repeat(129), 'é'])(
    'is a new ID for %j',
    async (sent) => {
      const response = await fetch(`${portal.url}/oauth/userinfo`, {
        headers: { 'X-Request-Id': sent },
      });
      expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  // @shows AS-19.3
  test.each([
    ['GET', '/.well-known/openid-configuration', 200],
    ['OPTIONS', '/oauth/token', 204],
    ['POST', '/oauth/token', 400],
    ['GET', '/oauth/token', 405],
    ['GET', '/oauth/userinfo', 401],
    ['GET', '/oauth/authorize', 400],
    ['GET', '/nowhere', 404],
    ['GET', '/api/notes', 401],
    ['POST', '/login', 403],
    ['HEAD', '/login', 200],
  ])('is in the response to %s %s, %i', async (method, path, status) => {
    const headers = { 'X-Request-Id': 'the-one' };
    const response = await fetch(`${portal.url}${path}`, { method, headers });
    expect(response.status).toBe(status);
    expect(response.headers.get('x-request-id')).toBe('the-one');
  });

  // @shows AS-19.3
  test('is in a redirect, and in a 304 response', async () => {
    const visitor = await portal.signedIn(ADA);
    const redirect = await visitor.get(authorizationUrl(portal, client, { scope: 'nothing' }));
    expect(redirect.status).toBe(302);
    expect(redirect.headers.get('x-request-id')).not.toBeNull();
    const url = `${portal.url}/.well-known/jwks.json`;
    const etag = (await fetch(url)).headers.get('etag') ?? '';
    const unchanged = await fetch(url, {
      headers: { 'If-None-Match': etag, 'X-Request-Id': 'again' },
    });
    expect(unchanged.status).toBe(304);
    expect(unchanged.headers.get('x-request-id')).toBe('again');
  });

  // @shows AS-19.3
  test('is on an error page, so that a person can quote it', async () => {
    const page = await fetch(authorizationUrl(portal, { id: 'unknown', secret: '' }));
    const id = page.headers.get('x-request-id') ?? '';
    expect(await page.text()).toContain(`Request id: <code>${id}</code>`);
  });
});

describe('a refusal is logged in one line', () => {
  // @shows AS-19.4
  test('with the request, the endpoint, the error, the client and the address', async () => {
    const response = await refresh(portal, client, 'no-such-token');
    expect(response.status).toBe(400);
    expect(await linesOf(response)).toEqual([
      expect.objectContaining({
        level: 'info',
        endpoint: 'oauth_server_token',
        error: 'invalid_grant',
        clientId: client.id,
        address: '127.0.0.1',
      }),
    ]);
  });

  // @shows AS-19.4
  test('without a stack, and a success is not logged', async () => {
    const code = await obtainCode(portal, client, await portal.signedIn(ADA));
    const granted = await exchangeCode(portal, client, code);
    expect(granted.status).toBe(200);
    expect(await linesOf(granted)).toEqual([]);
    const [line] = await linesOf(await exchangeCode(portal, client, code));
    expect(line?.['message']).not.toContain('\n');
  });

  // @shows AS-19.4
  test('also on a route that token() protects', async () => {
    const [line, ...more] = await linesOf(await callApi(portal, '/api/notes', 'no-such-token'));
    expect(more).toEqual([]);
    expect(line).toMatchObject({
      endpoint: 'token()',
      error: 'invalid_token',
      address: '127.0.0.1',
    });
  });
});

/** The private reason in the log for this response. */
async function reasonFor(response: Response): Promise<unknown> {
  const lines = await linesOf(response);
  expect(lines).toHaveLength(1);
  return lines[0]?.['detail'];
}

describe('the log contains the exact reason, and the client always gets the same response,', () => {
  const AN_HOUR = 3600;

  // @shows AS-9.10, AS-19.4
  test('for a refresh token: unknown, of a different client, used, expired, revoked, inactive', async () => {
    const other = await registerClient(portal);
    const tokens = await obtainTokens(portal, client, ADA);
    expect(await reasonFor(await refresh(portal, client, 'no-such-token'))).toBe(
      'the refresh token is unknown',
    );
    expect(await reasonFor(await refresh(portal, other, tokens.refresh_token))).toBe(
      `the refresh token was issued to the client ${client.id}`,
    );
    await portal.suspend(ADA);
    expect(await reasonFor(await refresh(portal, client, tokens.refresh_token))).toBe(
      'the account no longer exists, or is no longer allowed to sign in',
    );
    await portal.restore(ADA);
    const next = (await (
      await refresh(portal, client, tokens.refresh_token)
    ).json()) as typeof tokens;
    expect(await reasonFor(await refresh(portal, client, tokens.refresh_token))).toBe(
      'the refresh token was used before; its authorization is revoked',
    );
    expect(await reasonFor(await refresh(portal, client, next.refresh_token))).toBe(
      'the refresh token belongs to an authorization that was revoked',
    );
    const late = await obtainTokens(portal, client, ADA);
    clock.advance(40 * 24 * AN_HOUR);
    expect(await reasonFor(await refresh(portal, client, late.refresh_token))).toMatch(
      /^the refresh token expired at \d{4}-/,
    );
  });

  // @shows AS-9.10, AS-19.4
  test('for a code: unknown, used, expired, wrong verifier, redirect_uri or resource', async () => {
    const visitor = await portal.signedIn(ADA);
    const fresh = () => obtainCode(portal, client, visitor);
    const offered = async (changes: Record<string, string>) =>
      reasonFor(await exchangeCode(portal, client, await fresh(), changes));
    expect(await reasonFor(await exchangeCode(portal, client, 'no-such-code'))).toBe(
      'the code is unknown',
    );
    expect(await offered({ code_verifier: 'x'.repeat(43) })).toBe('the code_verifier is wrong');
    expect(await offered({ redirect_uri: 'https://client.example/callback/' })).toBe(
      `the redirect_uri is "https://client.example/callback/", but the code was requested with "${REDIRECT_URI}"`,
    );
    expect(await offered({ resource: 'https://other.example/api' })).toBe(
      'the resource is "https://other.example/api", but the code was granted for none',
    );
    const code = await fresh();
    await exchangeCode(portal, client, code);
    expect(await reasonFor(await exchangeCode(portal, client, code))).toBe(
      'the code was used before; its authorization is revoked',
    );
    const late = await fresh();
    clock.advance(61);
    expect(await reasonFor(await exchangeCode(portal, client, late))).toMatch(
      /^the code expired at /,
    );
  });

  // @shows AS-19.4
  test('for an access token: unknown, expired, revoked, without the scope, without the permission', async () => {
    const call = async (token: string) => reasonFor(await callApi(portal, '/api/notes', token));
    const tokens = await obtainTokens(portal, client, ADA);
    const narrow = await obtainTokens(portal, client, ADA, { scope: 'openid' });
    expect(await call('no-such-token')).toMatch(/^the token is unknown/);
    expect(await call('not/well formed')).toBe('the bearer token is not well formed');
    expect(await reasonFor(await fetch(`${portal.url}/api/notes`))).toBe(
      'there is no Authorization header',
    );
    expect(await call(narrow.access_token)).toBe(
      'the access token does not have the scope notes:read',
    );
    await portal.deny(ADA, 'notes:read');
    expect(await call(tokens.access_token)).toBe(
      'the person does not have the permission that the scope notes:read requires',
    );
    await portal.grant(ADA, 'notes:read');
    await portal.suspend(ADA);
    expect(await call(tokens.access_token)).toBe(
      'the account no longer exists, or is no longer allowed to sign in',
    );
    await portal.restore(ADA);
    await refresh(portal, client, tokens.refresh_token);
    await refresh(portal, client, tokens.refresh_token);
    expect(await call(tokens.access_token)).toBe('the authorization of the token was revoked');
    clock.advance(AN_HOUR + 1);
    expect(await call(narrow.access_token)).toBe('the token has expired');
  });

  test('at UserInfo and introspection too', async () => {
    const tokens = await obtainTokens(portal, client, ADA, { scope: 'notes:read' });
    const [line] = await linesOf(await callApi(portal, '/oauth/userinfo', tokens.access_token));
    expect(line).toMatchObject({
      endpoint: 'oauth_server_userinfo',
      error: 'insufficient_scope',
      detail: 'the access token does not have the scope openid',
      clientId: client.id,
    });
    const asked = await fetch(`${portal.url}/oauth/introspect`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: client.id, client_secret: client.secret, token: 'x' }),
    });
    expect(await reasonFor(asked)).toBe(
      'the client is registered only for authorization_code, refresh_token',
    );
  });

  test.each([
    [
      'an unknown client',
      { client_id: 'f'.repeat(32) },
      `no client has the id "${'f'.repeat(32)}"`,
    ],
    ['a placeholder', { client_id: 'your-client-id' }, 'no client has the id "your-client-id"'],
    [
      'an ID with a missing character',
      { client_id: `0123${'f'.repeat(23)}4567` },
      'no client has the id "012…567" (31 characters, shortened because it may be a secret)',
    ],
    [
      'an ID as long as the shortest secret',
      { client_id: 'abcdefgh-ijklmno' },
      'no client has the id "ab…no" (16 characters, shortened because it may be a secret)',
    ],
    [
      'an ID with invisible characters',
      { client_id: 'a\u202e\nb"' },
      String.raw`no client has the id "a\u{202e}\u{a}b\u{22}"`,
    ],
    [
      'a very long ID',
      { client_id: `\u202e${'😀'.repeat(300)}\0` },
      String.raw`no client has the id "\u{202e}😀😀😀…😀😀😀\u{0}" (302 characters, shortened because it may be a secret)`,
    ],
    [
      'a URL',
      { client_id: 'https://ada:secret@client.example/client.json?key=secret#secret' },
      'no client has the id "https://…@client.example/client.json?…"',
    ],
    ['no client', { client_id: undefined }, 'no client_id was sent, or more than one'],
  ])('for an authorization request by %s', async (_, changes, reason) => {
    expect(await reasonFor(await fetch(authorizationUrl(portal, client, changes)))).toBe(reason);
  });

  // @shows AS-19.2, AS-19.4
  test('for an unregistered redirect_uri: both URIs, without secret parts', async () => {
    const asked = async (redirect_uri: string) =>
      reasonFor(await fetch(authorizationUrl(portal, client, { redirect_uri })));
    expect(await asked('https://client.example/Callback')).toBe(
      `the redirect_uri is "https://client.example/Callback", but the client ${client.id} is registered with "${REDIRECT_URI}"`,
    );
    expect(await asked('https://me:hunter2@client.example/callback?token=hunter2#hunter2')).toBe(
      `the redirect_uri is "https://…@client.example/callback?…", but the client ${client.id} is registered with "${REDIRECT_URI}"`,
    );
  });

  test('for an error page: with the client, once it is known', async () => {
    const visitor = await portal.signedIn(ADA);
    const elsewhere = await visitor.get(
      authorizationUrl(portal, client, { redirect_uri: 'https://x.example/' }),
    );
    expect(await linesOf(elsewhere)).toEqual([expect.objectContaining({ clientId: client.id })]);
    const question = formOf(await (await visitor.get(authorizationUrl(portal, client))).text());
    const answer = { ...question.fields, decision: 'allow' };
    expect((await visitor.post(question.action, answer)).status).toBe(303);
    const other = { ...question.fields, decision: 'deny' };
    expect(await linesOf(await visitor.post(question.action, other))).toEqual([
      expect.objectContaining({
        detail: 'the consent request was already allowed',
        clientId: client.id,
      }),
    ]);
  });

  // @shows AS-19.4
  test('for an error that is sent to the redirect URI: with the invalid scope', async () => {
    const visitor = await portal.signedIn(ADA);
    const response = await visitor.get(
      authorizationUrl(portal, client, { scope: 'openid notes:raed' }),
    );
    expect(await linesOf(response)).toEqual([
      expect.objectContaining({
        endpoint: 'oauth_server_authorize',
        error: 'invalid_scope',
        detail: 'these scopes are unknown, or not registered for this client: "notes:raed"',
        clientId: client.id,
      }),
    ]);
  });

  test.each([
    [{ code_challenge: undefined }, 'no code_challenge was sent'],
    [{ code_challenge_method: 'plain' }, 'the code_challenge_method is "plain"'],
    [
      { code_challenge_method: undefined },
      'no code_challenge_method was sent, so the method is plain',
    ],
    [
      { resource: 'https://other.example/?key=1' },
      'the requested resource is "https://other.example/?…", but oauth_server:audience is none',
    ],
    [{ response_type: 'token' }, 'the response_type is "token"'],
  ])('for an authorization request with %j', async (changes, reason) => {
    expect(
      await reasonFor(
        await (await portal.signedIn(ADA)).get(authorizationUrl(portal, client, changes)),
      ),
    ).toBe(reason);
  });

  // @shows AS-9.10
  test('for a client that does not authenticate', async () => {
    const form = { grant_type: 'refresh_token', refresh_token: 'x' };
    const unknown = await requestToken(portal, { id: 'f'.repeat(32), secret: 'x' }, form);
    expect(await reasonFor(unknown)).toBe(`no client has the id "${'f'.repeat(32)}"`);
    expect(await reasonFor(await requestToken(portal, { ...client, secret: 'x' }, form))).toBe(
      'the secret is wrong',
    );
    expect(
      await reasonFor(await requestToken(portal, null, { ...form, client_id: client.id })),
    ).toBe('the client is confidential, but the request has no secret');
    expect(await reasonFor(await requestToken(portal, null, form))).toBe('no client id was sent');
  });
});

describe('untrusted input in a log line', () => {
  // @shows AS-19.2, AS-19.4
  test('is truncated, and invisible characters are escaped', async () => {
    const scope = `evil\u202e\u009b ${'x'.repeat(3000)}`;
    const visitor = await portal.signedIn(ADA);
    const reason = String(
      await reasonFor(await visitor.get(authorizationUrl(portal, client, { scope }))),
    );
    expect(reason).toContain('\\u{202e}\\u{9b}');
    expect(reason.length).toBeLessThan(400);
  });

  // @shows AS-19.2, AS-19.4
  test('is hidden if it may be a secret in the wrong place', async () => {
    const form = { grant_type: 'client_credentials' };
    const swapped = await requestToken(portal, { id: client.secret, secret: client.id }, form);
    // At most four characters at the start and the end of a secret may stay in the text.
    const [line] = await linesOf(swapped);
    const [start, end] = [client.secret.slice(0, 4), client.secret.slice(-4)];
    expect(line).toMatchObject({
      detail: `no client has the id "${start}…${end}" (43 characters, shortened because it may be a secret)`,
    });
    const { access_token: token, refresh_token: other } = await obtainTokens(portal, client, ADA);
    const assertion = `eyJhbGciOiJFUzI1NiJ9.${Buffer.from('{"iss":"client"}').toString('base64url')}.${'s'.repeat(86)}`;
    for (const id of [client.secret, token, other, assertion, 'hunter2-hunter2-']) {
      const lines = JSON.stringify(
        await linesOf(await requestToken(portal, { id, secret: 'x' }, form)),
      );
      for (let at = 0; at + 5 <= id.length; at += 1)
        expect(lines).not.toContain(id.slice(at, at + 5));
    }
    const visitor = await portal.signedIn(ADA);
    const misplaced = await visitor.get(
      authorizationUrl(portal, client, { scope: `openid ${client.secret}` }),
    );
    expect(JSON.stringify(await linesOf(misplaced))).not.toContain(client.secret);
  });

  test('shows no part of a secret where it is truncated', async () => {
    for (const before of [150, 157, 180, 198]) {
      const response = await requestToken(portal, client, {
        grant_type: `${'x y '.repeat(50).slice(0, before)} ${client.secret}`,
      });
      expect(JSON.stringify(await linesOf(response))).not.toContain(client.secret.slice(0, 3));
    }
  });

  test('shows no code_verifier, even with dots and tildes, and the full host of a URI', async () => {
    const verifier = 'abc.def~ghi-jkl_mno.pqr~stu-vwx_yz0.123~456-789_ABC';
    for (const [form, reason] of [
      [{ grant_type: verifier }, 'the grant_type is "[…]"'],
      [
        {
          grant_type: 'client_credentials',
          resource: `https://some-app.some-hill-70162bb9.eastus.apps.example/${verifier}`,
        },
        'the requested resource is "https://some-app.some-hill-70162bb9.eastus.apps.example/[…]", but oauth_server:audience is none',
      ],
      [
        { grant_type: 'client_credentials', resource: `https://${client.secret}.example` },
        'the requested resource is "https://[…].example", but oauth_server:audience is none',
      ],
    ] as const) {
      const owner = await registerClient(portal, {
        redirectUris: [],
        scopes: ['notes:read'],
        grants: ['client_credentials'],
      });
      expect(await reasonFor(await requestToken(portal, owner, form))).toBe(reason);
    }
  });
});

describe('the reason on the error page', () => {
  // @shows AS-19.4
  test('is shown under APP_ENV=dev', async () => {
    const page = await fetch(
      authorizationUrl(portal, client, { redirect_uri: 'https://client.example/x' }),
    );
    expect(await page.text()).toContain('the redirect_uri is &quot;https://client.example/x&quot;');
  });

  // @shows AS-19.4
  test('is not shown in any other environment', async () => {
    const strict = await startPortal({
      mode: 'prod',
      config: { public_url: 'https://portal.example' },
    });
    try {
      const its = await registerClient(strict);
      const url = authorizationUrl(strict, its, { redirect_uri: 'https://client.example/x' });
      const page = await strict.application.fetch(new Request(url));
      expect(page.status).toBe(400);
      const text = await page.text();
      expect(text).not.toContain('client.example/x');
      expect(text).toContain('Request id: <code>');
    } finally {
      await strict.close();
    }
  });
});
