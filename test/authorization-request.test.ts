import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ADA,
  authorizationUrl,
  exchangeCode,
  GRACE,
  obtainTokens,
  REDIRECT_URI,
  refresh,
  registerClient,
  requestToken,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { isRedirect, locationOf } from './support/visitor.ts';

let portal: RunningPortal;
let client: TestClient;

beforeAll(async () => {
  portal = await startPortal();
  client = await registerClient(portal);
});
afterAll(() => portal.close());

async function ask(
  changes: Readonly<Record<string, string | undefined>>,
  suffix = '',
): Promise<Response> {
  const visitor = await portal.signedIn(ADA);
  return visitor.get(authorizationUrl(portal, client, changes) + suffix);
}

async function expectRedirectedError(response: Response, error: string): Promise<void> {
  const location = locationOf(response);
  expect(location.href.startsWith(REDIRECT_URI)).toBe(true);
  expect(location.searchParams.get('error')).toBe(error);
  // RFC 6749 section 4.1.2.1: printable ASCII without quotes and backslashes.
  expect(location.searchParams.get('error_description')).toMatch(/^[\x20\x21\x23-\x5B\x5D-\x7E]+$/);
  expect(location.searchParams.get('state')).toBe('the-state');
  expect(location.searchParams.get('iss')).toBe(portal.url);
  expect(location.searchParams.has('code')).toBe(false);
}

async function expectErrorPage(response: Response, says: string): Promise<void> {
  expect(response.status).toBe(400);
  expect(response.headers.get('content-type')).toContain('text/html');
  expect(response.headers.has('location')).toBe(false);
  expect(await response.text()).toContain(says);
}

describe('an error page without a redirect is the response to an authorization request with', () => {
  // @shows AS-7.4, RFC9700-4.11
  test('an unknown client', async () => {
    await expectErrorPage(await ask({ client_id: 'unknown' }), 'Unknown application');
  });
  test('a client_id with a NUL character', async () => {
    await expectErrorPage(await ask({ client_id: `${client.id}\0` }), 'Unknown application');
  });
  // @shows AS-7.4
  test('no client_id', async () => {
    await expectErrorPage(await ask({ client_id: undefined }), 'Unknown application');
  });
  // @shows AS-7.4
  test('a repeated client_id', async () => {
    await expectErrorPage(await ask({}, `&client_id=${client.id}`), 'Unknown application');
  });
  // @shows AS-7.1, RFC6749-3.1.2.4
  test('no redirect_uri, even if the client has only one', async () => {
    await expectErrorPage(await ask({ redirect_uri: undefined }), 'Unregistered return address');
  });
  // @shows AS-7.4
  test('a repeated redirect_uri', async () => {
    const again = `&redirect_uri=${encodeURIComponent(REDIRECT_URI)}`;
    await expectErrorPage(await ask({}, again), 'Unregistered return address');
  });
  // @shows AS-7.1, AS-7.4, RFC6749-3.1.2.2, RFC6749-3.1.2.3, RFC6749-3.1.2.4, RFC6749-10.6, RFC6749-10.15
  // @shows RFC9700-2.1a, RFC9700-4.1, RFC9700-4.11, RFC10017-6.3.3.2.1
  test.each([
    ['an additional slash', `${REDIRECT_URI}/`],
    ['a missing letter', REDIRECT_URI.slice(0, -1)],
    ['a capital letter in the path', REDIRECT_URI.replace('callback', 'Callback')],
    ['a capital letter in the host', REDIRECT_URI.replace('client', 'Client')],
    ['a query', `${REDIRECT_URI}?a=b`],
    ['a default port', REDIRECT_URI.replace('.example/', '.example:443/')],
    ['another scheme', REDIRECT_URI.replace('https', 'http')],
    ['a dot segment', REDIRECT_URI.replace('/callback', '/./callback')],
    ['an encoded letter', REDIRECT_URI.replace('callback', '%63allback')],
    ['a trailing space', `${REDIRECT_URI} `],
  ])('a redirect_uri with %s', async (_, redirectUri) => {
    await expectErrorPage(await ask({ redirect_uri: redirectUri }), 'Unregistered return address');
  });
});

describe('a redirect with error, state and iss is the response to an authorization request with', () => {
  // @shows AS-7.4, RFC6749-4.1.2.1c, RFC9207-2b, RFC9700-4.4
  test.each<[string, Record<string, string | undefined>, string]>([
    // @shows AS-7.6, RFC6749-3.1.1
    ['response_type missing', { response_type: undefined }, 'invalid_request'],
    // @shows AS-1.4, AS-7.6, RFC6749-3.1.1, RFC9700-2.1.2, RFC9700-4.3
    // @shows RFC10017-7.2
    ['response_type=token', { response_type: 'token' }, 'unsupported_response_type'],
    // @shows AS-1.4, RFC9700-2.1.2
    [
      'response_type=code id_token',
      { response_type: 'code id_token' },
      'unsupported_response_type',
    ],
    // @shows AS-7.6, RFC9700-4.3
    ['response_mode=fragment', { response_mode: 'fragment' }, 'invalid_request'],
    // @shows AS-1.2, AS-7.2, RFC7636-4.4.1, RFC7636-7.2, RFC9700-2.1.1a, RFC9700-2.1.1d
    [
      'PKCE missing',
      { code_challenge: undefined, code_challenge_method: undefined },
      'invalid_request',
    ],
    // @shows RFC7636-4.3, RFC7636-7.2, RFC9700-2.1.1b
    [
      'PKCE without a method, which means plain',
      { code_challenge_method: undefined },
      'invalid_request',
    ],
    // @shows AS-1.2, AS-7.2, RFC7636-4.3, RFC7636-4.4.1, RFC7636-7.2, RFC9700-2.1.1b
    ['PKCE plain', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['a code_challenge that is not a SHA-256', { code_challenge: 'short' }, 'invalid_request'],
    // @shows AS-1.5, AS-7.9, OIDC-3.1.2.1d, OIDC-3.1.2.6a
    ['prompt=none', { prompt: 'none' }, 'interaction_required'],
    // @shows AS-7.10, OIDC-3.1.2.1e
    ['prompt=none with another value', { prompt: 'none consent' }, 'invalid_request'],
    // @shows AS-1.5, AS-7.9, AS-7.10, OIDC-3.1.2.1f
    ['prompt=login', { prompt: 'login' }, 'invalid_request'],
    // @shows AS-7.10
    ['prompt=login consent', { prompt: 'login consent' }, 'invalid_request'],
    // @shows AS-7.10, OIDC-3.1.2.1f
    ['prompt=select_account', { prompt: 'select_account' }, 'invalid_request'],
    // @shows AS-1.5, AS-7.9
    ['max_age', { max_age: '60' }, 'invalid_request'],
    // @shows AS-7.9
    ['max_age=0', { max_age: '0' }, 'invalid_request'],
    // @shows AS-7.6, OIDC-3.1.2.6a, OIDC-3.1.2.6b
    ['a request object', { request: 'eyJhbGciOiJub25lIn0.e30.' }, 'request_not_supported'],
    // @shows AS-7.6, OIDC-3.1.2.6b
    ['a request_uri', { request_uri: 'https://client.example/r' }, 'request_uri_not_supported'],
    // @shows AS-7.7, RFC6749-3.3a, OIDC-3.1.2.6a
    ['an unknown scope', { scope: 'notes:destroy' }, 'invalid_scope'],
    // @shows RFC6749-3.3a
    ['an ill-formed scope', { scope: 'a"b' }, 'invalid_scope'],
    // @shows AS-7.8
    [
      'a resource when no audience is configured',
      { resource: 'https://api.example/' },
      'invalid_target',
    ],
  ])('%s', async (_, changes, error) => {
    await expectRedirectedError(await ask(changes), error);
  });

  // @shows AS-1.2, AS-7.2, RFC7636-4.4.1, RFC7636-7.2, RFC9700-2.1.1a, RFC9700-2.1.1d
  // @shows RFC10017-6.3.2.1, RFC10017-6.3.2.2
  test('no PKCE challenge from a public client', async () => {
    const own = await registerClient(portal, { public: true });
    const visitor = await portal.signedIn(ADA);
    const without = { code_challenge: undefined, code_challenge_method: undefined };
    await expectRedirectedError(
      await visitor.get(authorizationUrl(portal, own, without)),
      'invalid_request',
    );
  });

  // @shows RFC6749-4.1.2.1b
  test('a client that is not registered for the grant (unauthorized_client)', async () => {
    const own = await registerClient(portal);
    const { database } = portal.application;
    await database.execute(
      "UPDATE oauth_clients SET grants = 'client_credentials' WHERE client_id = ?",
      [own.id],
    );
    const visitor = await portal.signedIn(ADA);
    await expectRedirectedError(
      await visitor.get(authorizationUrl(portal, own)),
      'unauthorized_client',
    );
  });

  // @shows AS-7.5, RFC6749-3.1e
  test.each(['scope', 'nonce', 'code_challenge', 'response_type', 'prompt'])(
    'a repeated %s',
    async (name) => {
      await expectRedirectedError(
        await ask({ [name]: 'consent' }, `&${name}=consent`),
        'invalid_request',
      );
    },
  );

  // @shows AS-7.5
  test('a repeated state, which is not returned', async () => {
    const location = locationOf(await ask({}, '&state=other'));
    expect(location.searchParams.get('error')).toBe('invalid_request');
    expect(location.searchParams.has('state')).toBe(false);
  });

  // @shows AS-7.8, RFC8707-2c
  test('a repeated resource (invalid_target)', async () => {
    const both = '&resource=https%3A%2F%2Fa.example&resource=https%3A%2F%2Fb.example';
    await expectRedirectedError(await ask({}, both), 'invalid_target');
  });

  // @shows AS-7.7
  test('a scope that the server offers but this client does not have', async () => {
    const reader = await registerClient(portal, { scopes: ['notes:read'] });
    const visitor = await portal.signedIn(ADA);
    const response = await visitor.get(
      authorizationUrl(portal, reader, { scope: 'notes:read openid' }),
    );
    await expectRedirectedError(response, 'invalid_scope');
  });

  // @shows AS-8.7
  test('scopes for which the person has no permission (access_denied), without a consent page', async () => {
    const visitor = await portal.signedIn(GRACE);
    const response = await visitor.get(authorizationUrl(portal, client, { scope: 'notes:write' }));
    await expectRedirectedError(response, 'access_denied');
  });
});

describe('the authorization endpoint accepts no access token', () => {
  test.each(['GET', 'POST'])(
    '%s with an Authorization: Bearer header is invalid_request',
    async (method) => {
      const visitor = await portal.signedIn(ADA);
      const headers = { Authorization: 'Bearer x', Cookie: visitor.cookies() };
      const init = method === 'POST' ? { body: new URLSearchParams({ request_id: 'x' }) } : {};
      const url = authorizationUrl(portal, client);
      const response = await fetch(url, { method, headers, redirect: 'manual', ...init });
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ error: 'invalid_request' });
    },
  );
});

describe('an authorization request', () => {
  // @shows AS-1.5, AS-7.5, AS-7.9, RFC6749-3.1d, OIDC-3.1.2.1g, OIDC-3.1.2.1h
  test('may have unknown parameters and prompt=consent', async () => {
    const response = await ask({
      prompt: 'consent',
      display: 'popup',
      foo: 'bar',
      request_id: 'whatever',
    });
    expect(response.status).toBe(200);
  });

  // @shows OIDC-3.1.2.1h
  test('may have optional OpenID Connect parameters that the server ignores', async () => {
    const wishes = {
      display: 'page',
      ui_locales: 'de fr',
      claims_locales: 'de',
      acr_values: '0',
      login_hint: ADA,
    };
    expect((await ask(wishes)).status).toBe(200);
  });

  // @shows RFC6749-3.1c
  test('treats a parameter without a value as missing', async () => {
    expect((await ask({ max_age: '', prompt: '', request: '' })).status).toBe(200);
  });

  // @shows AS-7.7, RFC6749-3.3c
  test('without a scope requests all the scopes of the client except openid', async () => {
    const tokens = await obtainTokens(portal, client, ADA, { scope: undefined });
    expect(tokens.scope.split(' ').toSorted()).toEqual([
      'email',
      'notes:read',
      'notes:write',
      'profile',
    ]);
    expect(tokens.id_token).toBeUndefined();
  });

  // @shows AS-7.12, RFC6749-4.1.1, RFC9700-2.1d
  test('may have a state and nonce as long as the URL allows', async () => {
    const state = 'é%&='.repeat(600);
    const visitor = await portal.signedIn(ADA);
    const page = await visitor.get(
      authorizationUrl(portal, client, { state, nonce: 'n'.repeat(3000) }),
    );
    const answer = locationOf(await visitor.submit(page, { decision: 'deny' }));
    expect(answer.searchParams.get('state')).toBe(state);
  });

  // @shows RFC6749-3.1.2b
  test('keeps the query of the redirect URI', async () => {
    const redirectUri = 'https://client.example/cb?keep=a%20b';
    const own = await registerClient(portal, { redirectUris: [redirectUri] });
    const visitor = await portal.signedIn(ADA);
    const page = await visitor.get(authorizationUrl(portal, own, { redirect_uri: redirectUri }));
    const answer = await visitor.submit(page, { decision: 'allow' });
    expect(answer.headers.get('location')).toMatch(
      /^https:\/\/client\.example\/cb\?keep=a%20b&code=/,
    );
  });
});

describe('the scope offline_access, which many clients always request,', () => {
  // @shows AS-3.5
  test('is ignored: it is neither shown nor granted, and the response lists the granted scopes', async () => {
    const visitor = await portal.signedIn(ADA);
    const scope = 'openid offline_access notes:read';
    const page = await visitor.get(authorizationUrl(portal, client, { scope }));
    expect(await page.clone().text()).not.toContain('offline_access');
    const answer = locationOf(await visitor.submit(page, { decision: 'allow' }));
    const response = await exchangeCode(portal, client, answer.searchParams.get('code') ?? '');
    const tokens = (await response.json()) as Tokens;
    expect(tokens.scope).toBe('openid notes:read');
    expect(tokens.refresh_token).toMatch(/^\w{32}(?:\.[\w-]{43}){2}$/);
    const again = await refresh(portal, client, tokens.refresh_token, { scope });
    expect(await again.json()).toMatchObject({ scope: 'openid notes:read' });
  });

  // @shows AS-3.5
  // @shows RFC9700-4.14.2f
  test('gives no refresh token to a client that is not registered for refresh', async () => {
    const own = await registerClient(portal, { grants: ['authorization_code'] });
    const tokens = await obtainTokens(portal, own, ADA, { scope: 'notes:read offline_access' });
    expect(tokens).not.toHaveProperty('refresh_token');
  });

  // @shows AS-3.5
  test('is treated as no scope if it is the only one', async () => {
    const without = await obtainTokens(portal, client, ADA, { scope: undefined });
    const tokens = await obtainTokens(portal, client, ADA, { scope: 'offline_access' });
    expect(tokens.scope).toBe(without.scope);
    const again = await refresh(portal, client, tokens.refresh_token, { scope: 'offline_access' });
    expect(await again.json()).toMatchObject({ scope: without.scope });
  });

  test('beside an unknown scope is still invalid_scope', async () => {
    await expectRedirectedError(
      await ask({ scope: 'offline_access notes:destroy' }),
      'invalid_scope',
    );
  });

  test('has no effect with client_credentials', async () => {
    const service = await registerClient(portal, {
      redirectUris: [],
      grants: ['client_credentials'],
      scopes: ['notes:read', 'offline_access'],
    });
    const scope = 'notes:read offline_access';
    const response = await requestToken(portal, service, {
      grant_type: 'client_credentials',
      scope,
    });
    const tokens = (await response.json()) as Tokens;
    expect(tokens.scope).toBe('notes:read');
    expect(tokens).not.toHaveProperty('refresh_token');
  });

  // @shows AS-3.5
  test('may be named at registration, and is not in the metadata', async () => {
    const own = await registerClient(portal, { scopes: ['notes:read', 'offline_access'] });
    expect((await portal.server.clients.find(own.id))?.scopes).toEqual(['notes:read']);
    const metadata = await fetch(`${portal.url}/.well-known/openid-configuration`);
    expect(await metadata.text()).not.toContain('offline_access');
  });
});

describe('the browser receives only an opaque request id', () => {
  // @shows AS-1.1, AS-2.5, AS-4.9, AS-8.2, AS-14.3, OIDC-3.1.2.3
  test('on the way to sign-in', async () => {
    const response = await portal.visitor().get(authorizationUrl(portal, client));
    expect(isRedirect(response)).toBe(true);
    const location = decodeURIComponent(response.headers.get('location') ?? '');
    expect(location).toMatch(
      /^\/login\?return_to=\/oauth\/authorize\?request_id=[A-Za-z0-9_-]{43}$/,
    );
  });

  // @shows AS-4.9, AS-8.2
  test('in the form of the consent page', async () => {
    const html = await (await ask({})).text();
    const fields = [...html.matchAll(/<input[^>]*name="([^"]+)"/g)].map(([, name]) => name);
    expect(fields).toEqual(['request_id', 'csrf_token']);
    expect(html).not.toContain(client.id);
    expect(html).not.toContain(REDIRECT_URI);
    expect(html).not.toContain('notes:write');
  });

  // @shows AS-7.12
  test('even for a long request, which survives sign-in', async () => {
    const visitor = portal.visitor();
    const state = 's'.repeat(6000);
    const login = await visitor.visit(authorizationUrl(portal, client, { state }));
    const back = await visitor.submit(login, { identifier: ADA, password: 'portico' });
    const consent = await visitor.visit(back.headers.get('location') ?? '');
    const answer = locationOf(await visitor.submit(consent, { decision: 'allow' }));
    expect(answer.searchParams.get('state')).toBe(state);
    expect(answer.searchParams.get('code')).toMatch(/^[0-9a-f]{32}\.[\w-]{43}$/);
  });
});

describe('the consent page', () => {
  // @shows AS-8.8, RFC6749-10.13, RFC9700-4.2.4a, RFC9700-4.16
  // @shows RFC9700-4.16b
  test('cannot be framed or stored, sends no referrer and runs no script', async () => {
    for (const response of [await ask({}), await ask({ client_id: 'unknown' })]) {
      expect(response.headers.get('x-frame-options')).toBe('DENY');
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(response.headers.get('referrer-policy')).toBe('no-referrer');
      const policy = response.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toContain('script-src');
    }
  });

  // @shows AS-2.2, AS-2.3, AS-3.4, AS-6.1, AS-8.5, RFC6749-3.1a, RFC6749-10.2
  test('names the application, the person, the requested access, and the redirect target', async () => {
    const html = await (await ask({})).text();
    for (const said of [
      'Test application',
      'Portal',
      'Ada Lovelace',
      ADA,
      'Read your notes',
      'client.example',
    ]) {
      expect(html).toContain(said);
    }
  });

  // @shows RFC6749-10.14
  test('escapes the name of the application', async () => {
    const named = await registerClient(portal, { name: '<script>alert("x")</script> & Co' });
    const visitor = await portal.signedIn(ADA);
    const html = await (await visitor.get(authorizationUrl(portal, named))).text();
    expect(html).not.toContain('<script');
    expect(html).toContain('&lt;script&gt;');
  });
});
