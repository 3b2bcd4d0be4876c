import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import * as openid from 'openid-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Contender, RunningContender } from '../support/mounts.ts';
import { ADA, GRACE, PASSWORD, REDIRECT_URI } from '../support/portal.ts';
import { createVisitor, isRedirect, locationOf, type Visitor } from '../support/visitor.ts';

/** A page that may call tools from a browser. */
const PAGE = 'https://inspector.example';

/**
 * Runs the tests of one contract for every way to mount Portico, over real HTTP. The application
 * runs in this process or in another one.
 */
export function holdContract(contender: Contender): void {
  let mount: RunningContender;
  let config: openid.Configuration;
  let clientId: string;
  let clientSecret: string;

  beforeAll(async () => {
    mount = await contender.start({ mcp: { allowed_origins: [PAGE] } });
    const client = await mount.register({
      name: 'Shop assistant',
      redirectUris: [REDIRECT_URI],
      scopes: ['openid', 'profile', 'email', 'orders:read', 'mcp:tools'],
      grants: ['authorization_code', 'refresh_token', 'introspection'],
    });
    clientId = client.id;
    clientSecret = client.secret;
    config = await openid.discovery(
      new URL(mount.url),
      client.id,
      undefined,
      openid.ClientSecretBasic(client.secret),
      { execute: [openid.allowInsecureRequests] },
    );
  });
  afterAll(() => mount.close());

  /** The host's own sign-in page, filled in. */
  function signIn(visitor: Visitor, page: Response): Promise<Response> {
    return visitor.submit(page, { email: ADA, password: PASSWORD });
  }

  /**
   * Goes from the authorization request through the host's own login and the consent screen to the
   * tokens.
   */
  async function authorize(
    visitor = createVisitor(mount.url),
  ): Promise<openid.TokenEndpointResponse> {
    const verifier = openid.randomPKCECodeVerifier();
    const state = openid.randomState();
    const nonce = openid.randomNonce();
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT_URI,
      scope: 'openid profile email orders:read mcp:tools',
      resource: `${mount.url}/mcp`,
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    });
    let page = await visitor.visit(url.href);
    if (new URL(page.url).pathname === '/login')
      page = await visitor.visit(locationOf(await signIn(visitor, page)).href);
    expect(await page.clone().text()).toContain('Signed in as <strong><bdi>Ada Lovelace');
    const callback = locationOf(await visitor.submit(page, { decision: 'allow' }));
    return openid.authorizationCodeGrant(config, callback, {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    });
  }

  /** An authorization request whose code is not exchanged. */
  const requestOf = async (more: Readonly<Record<string, string>> = {}) =>
    openid.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT_URI,
      scope: 'orders:read',
      code_challenge: await openid.calculatePKCECodeChallenge(openid.randomPKCECodeVerifier()),
      code_challenge_method: 'S256',
      ...more,
    });

  const api = (accessToken: string, more: Readonly<Record<string, string>> = {}) =>
    fetch(`${mount.url}/api/orders`, {
      headers: { Authorization: `Bearer ${accessToken}`, ...more },
    });

  test('sign in, consent, code, ID token, UserInfo and the protected API', async () => {
    const tokens = (await authorize()) as openid.TokenEndpointResponse &
      openid.TokenEndpointResponseHelpers;
    const subject = tokens.claims()?.sub ?? '';
    expect(subject).toMatch(/^[0-9a-f]{32}$/);
    const userinfo = await openid.fetchUserInfo(config, tokens.access_token, subject);
    expect(userinfo).toMatchObject({ name: 'Ada Lovelace', email: ADA });
    const body = new URLSearchParams({ access_token: tokens.access_token });
    const byForm = await fetch(`${mount.url}/oauth/userinfo`, { method: 'POST', body });
    expect(await byForm.json()).toEqual(userinfo);
    expect(await (await api(tokens.access_token)).json()).toEqual({
      orders: [],
      of: 'Ada Lovelace',
    });
  });

  test('a signed-in person still gets the consent question; denying is access_denied', async () => {
    const visitor = createVisitor(mount.url);
    await authorize(visitor);
    await authorize(visitor);
    const url = await requestOf();
    const denied = locationOf(
      await visitor.submit(await visitor.visit(url.href), { decision: 'deny' }),
    );
    expect(denied.searchParams.get('error')).toBe('access_denied');
  });

  test('several tabs of a new browser: each request waits, and its cookie arrives with those of the host', async () => {
    const visitor = createVisitor(mount.url);
    const tab = async (state: string) => {
      const url = await requestOf({ state });
      return visitor.get(url.href);
    };
    const tabs = await Promise.all([tab('first'), tab('second')]);
    const logins = await Promise.all(tabs.map((each) => visitor.visit(locationOf(each).href)));
    const back = await signIn(visitor, logins[0] ?? Response.error());
    const first = await visitor.visit(locationOf(back).href);
    const second = await visitor.visit(
      locationOf(tabs[1] ?? back).searchParams.get('return_to') ?? '',
    );
    const states: unknown[] = [];
    for (const page of [second, first]) {
      const answer = locationOf(await visitor.submit(page, { decision: 'allow' }));
      expect(answer.searchParams.has('code')).toBe(true);
      states.push(answer.searchParams.get('state'));
    }
    expect(states).toEqual(['second', 'first']);
    expect(visitor.cookies()).not.toContain('portico_request_');
  });

  test('cookies that the host sets, early and late, arrive with ours', async () => {
    const url = await requestOf();
    const answer = await fetch(url, { redirect: 'manual' });
    const set = answer.headers.getSetCookie().map((cookie) => cookie.slice(0, cookie.indexOf('=')));
    expect(set).toEqual(expect.arrayContaining([...(contender.cookies ?? [])]));
    expect(set.filter((name) => name.startsWith('portico_request_'))).toHaveLength(1);
  });

  test('several cookies of one answer arrive: the oldest waiting request is dropped when there are too many', async () => {
    const visitor = createVisitor(mount.url);
    const url = await requestOf({ state: 's'.repeat(1200) });
    for (let count = 0; count < 5; count += 1) await visitor.get(url.href);
    expect(visitor.cookies().match(/portico_request_/g)).toHaveLength(2);
  });

  test('a question can be answered only in the browser that shows it, not in another of the same person', async () => {
    const [asked, other] = [createVisitor(mount.url), createVisitor(mount.url)];
    await authorize(asked);
    await authorize(other);
    const url = await requestOf();
    const question = await asked.visit(url.href);
    expect((await other.submit(question, { decision: 'allow' })).status).toBe(400);
    const allowed = locationOf(await asked.submit(question, { decision: 'allow' }));
    expect(allowed.searchParams.has('code')).toBe(true);
  });

  test('"Not you?" ends the session of the host, and the next person who signs in gets the question', async () => {
    const visitor = createVisitor(mount.url);
    await authorize(visitor);
    const url = await requestOf();
    const away = await visitor.submit(await visitor.visit(url.href), { decision: 'switch' });
    const login = await visitor.visit(locationOf(away).href);
    expect(new URL(login.url).pathname).toBe('/login');
    const consent = await visitor.visit(locationOf(await signIn(visitor, login)).href);
    const answer = locationOf(await visitor.submit(consent, { decision: 'allow' }));
    expect(answer.searchParams.has('code')).toBe(true);
  });

  test('after a mistyped password the person still gets the question, without going back to the application', async () => {
    const visitor = createVisitor(mount.url);
    const login = await visitor.visit((await requestOf()).href);
    const wrong = await visitor.submit(login, { email: ADA, password: `not ${PASSWORD}` });
    // Some hosts report the wrong password, and the browser returns to the page. Others show the
    // page again.
    const again = isRedirect(wrong) ? await visitor.visit(locationOf(wrong).href) : login;
    const question = await visitor.visit(locationOf(await signIn(visitor, again)).href);
    expect(await question.text()).toContain('Signed in as');
  });

  test('another person who signs in before the answer cannot give it, and ends the question', async () => {
    const visitor = createVisitor(mount.url);
    await authorize(visitor);
    const url = await requestOf();
    const question = await visitor.visit(url.href);
    const signInAs = async (email: string) =>
      visitor.submit(await visitor.visit('/login'), { email, password: PASSWORD });
    await signInAs(GRACE);
    expect((await visitor.submit(question, { decision: 'allow' })).status).toBe(400);
    await signInAs(ADA);
    const answer = await visitor.submit(question, { decision: 'allow' });
    expect(answer.status).toBe(400);
    const askedAnew = await visitor.visit(url.href);
    const allowed = locationOf(await visitor.submit(askedAnew, { decision: 'allow' }));
    expect(allowed.searchParams.has('code')).toBe(true);
  });

  test('the same person may sign in again while a question is open', async () => {
    const visitor = createVisitor(mount.url);
    await authorize(visitor);
    const url = await requestOf();
    const question = await visitor.visit(url.href);
    await signIn(visitor, await visitor.visit('/login'));
    const answer = locationOf(await visitor.submit(question, { decision: 'allow' }));
    expect(answer.searchParams.has('code')).toBe(true);
  });

  test('a refresh works, and a replay ends the family', async () => {
    const first = await authorize();
    const second = await openid.refreshTokenGrant(config, first.refresh_token ?? '');
    expect((await api(second.access_token)).status).toBe(200);
    await expect(openid.refreshTokenGrant(config, first.refresh_token ?? '')).rejects.toMatchObject(
      {
        error: 'invalid_grant',
      },
    );
    expect((await api(second.access_token)).status).toBe(401);
  });

  test("client secrets are hashed by the host's own hasher", async () => {
    expect(await mount.secretHashOf(clientId)).toMatch(contender.hashed ?? /^\$2[aby]\$/);
  });

  test('introspection and revocation', async () => {
    const tokens = await authorize();
    const introspected = await openid.tokenIntrospection(config, tokens.access_token);
    expect(introspected).toMatchObject({
      active: true,
      client_id: clientId,
      aud: `${mount.url}/mcp`,
    });
    await openid.tokenRevocation(config, tokens.refresh_token ?? '');
    expect(await openid.tokenIntrospection(config, tokens.access_token)).toMatchObject({
      active: false,
    });
  });

  test('the protected API: 401 with a challenge without a usable token; 403 with one that lacks the scope', async () => {
    const bare = await fetch(`${mount.url}/api/orders`);
    expect([bare.status, bare.headers.get('www-authenticate')]).toEqual([
      401,
      'Bearer realm="oauth"',
    ]);
    expect((await api('garbage')).status).toBe(401);
    const visitor = createVisitor(mount.url);
    const tokens = await authorize(visitor);
    expect((await api('garbage', { Cookie: visitor.cookies() })).status).toBe(401);
    const narrow = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '', {
      scope: 'openid',
    });
    expect((await api(narrow.access_token)).status).toBe(403);
  });

  test('a refusal of a token is JSON as every endpoint sends it: no charset, and no caching headers', async () => {
    const narrow = await openid.refreshTokenGrant(config, (await authorize()).refresh_token ?? '', {
      scope: 'openid',
    });
    for (const sent of ['garbage', narrow.access_token]) {
      const { headers } = await api(sent);
      const [type, tag, cached] = ['content-type', 'etag', 'cache-control'].map((name) =>
        headers.get(name),
      );
      // Another framework may add headers to the responses of its routes.
      const own = contender.name.startsWith('portico/');
      const json = own ? type : type?.split(';')[0];
      expect([json, own ? tag : null, cached]).toEqual(['application/json', null, 'no-store']);
    }
  });

  // RFC 9110 section 5.3: a sender must not do this. A recipient that reads one of the two may read
  // a different one than a proxy did.
  test('two Authorization headers are refused as token and as credentials, in either order', async () => {
    const { access_token: usable } = await authorize();
    const { hostname, port } = new URL(mount.url);
    const statusOf = async (line: string, ...authorizations: readonly string[]) => {
      const socket = connect(Number(port), hostname);
      const lines = authorizations.map((each) => `Authorization: ${each}\r\n`).join('');
      socket.write(`${line} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${lines}\r\n`);
      return Number(/^HTTP\/1\.1 (\d+)/.exec(await text(socket))?.[1]);
    };
    const bearer = `Bearer ${usable}`;
    for (const line of ['GET /api/orders', 'GET /oauth/userinfo', 'POST /mcp']) {
      expect([line, await statusOf(line, bearer)]).not.toEqual([line, 401]);
      for (const pair of [
        [bearer, 'Bearer x'],
        ['Bearer x', bearer],
        [bearer, bearer],
        ['Basic eDp5', bearer],
      ] as const) {
        // Some frameworks pass on only the first header, so Portico cannot see the second one.
        const alone = contender.name.startsWith('portico/') ? 401 : await statusOf(line, pair[0]);
        expect([401, alone]).toContain(await statusOf(line, ...pair));
      }
    }
  });

  test('a suspended user: from the next call on no token works, and nothing is issued', async () => {
    const tokens = await authorize();
    await mount.suspend(ADA, true);
    expect((await api(tokens.access_token)).status).toBe(401);
    await expect(
      openid.refreshTokenGrant(config, tokens.refresh_token ?? ''),
    ).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    await mount.suspend(ADA, false);
    expect((await api(tokens.access_token)).status).toBe(200);
  });

  test('a removed permission: from the next call on its scope has no effect', async () => {
    const tokens = await authorize();
    await mount.permit(ADA, 'mcp:tools');
    expect((await api(tokens.access_token)).status).toBe(403);
    const { scope } = await openid.tokenIntrospection(config, tokens.access_token);
    expect(scope?.split(' ').toSorted()).toEqual(['email', 'mcp:tools', 'openid', 'profile']);
    await mount.permit(ADA, 'orders:read mcp:tools');
    expect((await api(tokens.access_token)).status).toBe(200);
  });

  test('HEAD is answered as GET, without the body', async () => {
    for (const path of ['/.well-known/openid-configuration', '/oauth/authorize']) {
      const [get, head] = await Promise.all(
        ['GET', 'HEAD'].map((method) => fetch(`${mount.url}${path}`, { method })),
      );
      expect(head?.status).toBe(get?.status);
      expect(head?.headers.get('content-type')).toBe(get?.headers.get('content-type'));
      expect(await head?.text()).toBe('');
    }
  });

  // @shows AS-6.31
  test('a shared cache may store a public document, but not the answer to a browser with cookies', async () => {
    const visitor = createVisitor(mount.url);
    await authorize(visitor);
    for (const path of [
      '/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server',
      '/.well-known/jwks.json',
      '/.well-known/oauth-protected-resource/mcp',
    ]) {
      const answers = [await fetch(mount.url + path), await visitor.get(path)];
      const allowed = answers.map(({ headers }) => headers.get('cache-control'));
      expect([path, ...allowed]).toEqual([
        path,
        expect.stringMatching(/^public, max-age=\d+$/),
        expect.stringMatching(/^private, max-age=\d+$/),
      ]);
    }
  });

  test('an MCP call', async () => {
    const { access_token: accessToken } = await authorize();
    const call = (headers: Readonly<Record<string, string>>) =>
      fetch(`${mount.url}/mcp`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          'MCP-Protocol-Version': '2025-11-25',
          ...headers,
        },
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"my_name","arguments":{}}}',
      });
    const answer = await call({ Authorization: `Bearer ${accessToken}` });
    expect(await answer.json()).toMatchObject({
      result: { structuredContent: { name: 'Ada Lovelace' } },
    });
    const refused = await call({});
    expect([refused.status, refused.headers.has('www-authenticate')]).toEqual([401, false]);
    const gone = await fetch(`${mount.url}/mcp`, {
      headers: { Authorization: `Bearer ${accessToken}` },
    });
    expect(gone.status).toBe(405);
  });

  // @shows AS-19.3, AS-19.4
  test.each([
    ['GET', '/.well-known/openid-configuration', 200],
    ['GET', '/.well-known/oauth-protected-resource/mcp', 200],
    ['OPTIONS', '/oauth/token', 204],
    ['POST', '/oauth/token', 400],
    ['GET', '/oauth/authorize', 400],
    ['POST', '/mcp', 401],
    ['GET', '/mcp', 405],
    ['GET', '/api/orders', 401],
  ])('the id of the request is in the answer to %s %s, %i', async (method, path, status) => {
    for (const headers of [{ 'X-Request-Id': 'the-one' }, { 'X-Request-Id': 'two words' }, {}]) {
      const response = await fetch(`${mount.url}${path}`, { method, headers });
      expect(response.status).toBe(status);
      const id = headers['X-Request-Id'] === 'the-one' ? /^the-one$/ : /^[0-9a-f-]{36}$/;
      expect(response.headers.get('x-request-id')).toMatch(id);
    }
  });

  test('an MCP call that streams: progress arrives before the result', async () => {
    const streaming = await contender.start({ mcp: { transport: { streaming: true } } });
    try {
      const { id, secret } = await streaming.register({
        name: 'Robot',
        grants: ['client_credentials'],
        scopes: ['mcp:tools'],
      });
      const credentials = Buffer.from(`${id}:${secret}`).toString('base64');
      const token = await fetch(`${streaming.url}/oauth/token`, {
        method: 'POST',
        headers: { Authorization: `Basic ${credentials}` },
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
      });
      const { access_token: accessToken } = (await token.json()) as { access_token: string };
      const response = await fetch(`${streaming.url}/mcp`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${accessToken}`,
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
        },
        body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"my_name","arguments":{}}}',
      });
      expect(response.headers.get('content-type')).toMatch(/^text\/event-stream(?:;|$)/);
      expect(await response.text()).toContain('"structuredContent":{"name":null}');
    } finally {
      await streaming.close();
    }
  });

  // @shows MCP-8.9
  test.each(['GET', 'HEAD', 'DELETE', 'PUT', 'PATCH'])(
    'MCP with %s is 405, Allow names only POST, and an allowed page can read it',
    async (method) => {
      const { access_token: accessToken } = await authorize();
      for (const sent of [
        {},
        { Authorization: `Bearer ${accessToken}` },
        { Authorization: 'Bearer x' },
      ]) {
        const response = await fetch(`${mount.url}/mcp`, {
          method,
          headers: { ...sent, Origin: PAGE },
        });
        expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
        expect(response.headers.get('access-control-allow-origin')).toBe(PAGE);
      }
    },
  );

  // @shows MCP-8.9
  test('MCP with a method of no endpoint is 405, and Allow names only POST and OPTIONS', async () => {
    const { hostname, port } = new URL(mount.url);
    const socket = connect(Number(port), hostname);
    socket.write('TRACE /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    // A framework may respond to methods that no endpoint has registered.
    const own = contender.name.startsWith('portico/');
    const answered = own ? /^HTTP\/1\.1 405 [^]*^allow: POST, OPTIONS\r$/im : /^HTTP\/1\.1 [2345]/;
    expect(await text(socket)).toMatch(answered);
  });

  // @shows MCP-8.11
  test('an allowed page can read why its MCP call is refused, including a too large body', async () => {
    const { access_token: accessToken } = await authorize();
    const call = (body: BodyInit, headers: Readonly<Record<string, string>> = {}) =>
      fetch(`${mount.url}/mcp`, {
        method: 'POST',
        headers: {
          Origin: PAGE,
          Authorization: `Bearer ${accessToken}`,
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
          ...headers,
        },
        body,
        ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
      });
    const large = JSON.stringify({ text: 'x'.repeat(1_500_000) });
    const refused = {
      401: await call('{}', { Authorization: 'Bearer x' }),
      400: await call('{}'),
      406: await call('{}', { Accept: '*/*' }),
      415: await call('{}', { 'Content-Type': 'text/plain' }),
      ...(contender.parsesJson ? {} : { 413: await call(large) }),
    };
    for (const [status, response] of Object.entries(refused)) {
      expect(response.status).toBe(Number(status));
      expect(response.headers.get('access-control-allow-origin')).toBe(PAGE);
      expect(await response.json()).toMatchObject({ jsonrpc: '2.0' });
    }
    const chunked = contender.leavesBodies === true ? null : await call(new Blob([large]).stream());
    const readBy = contender.parsesJson ? null : PAGE;
    expect(chunked?.status ?? 413).toBe(413);
    expect(chunked?.headers.get('access-control-allow-origin') ?? null).toBe(
      chunked === null ? null : readBy,
    );
    expect((await call('{"jsonrpc":"2.0","id":1,"method":"ping"}')).status).toBe(200);
  });

  test('an unread body does not delay the next request on its connection', async () => {
    const { hostname, port } = new URL(mount.url);
    const unread = 'x'.repeat(600_000);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: ${unread.length}\r\n\r\n${unread}` +
        'GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
    );
    let said = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
    await finished(socket).catch(() => {});
    const answered = said.match(/HTTP\/1\.1 \d+/g);
    // The server of another framework may read the rest of a body, or close or reset the
    // connection.
    const own = contender.name.startsWith('portico/');
    expect(answered?.slice(0, own ? 2 : 1)).toEqual(
      ['HTTP/1.1 401', 'HTTP/1.1 405'].slice(0, own ? 2 : 1),
    );
  });

  // @shows MCP-8.11
  test.each([
    'oauth-protected-resource',
    'oauth-protected-resource/mcp',
    'oauth-authorization-server',
    'openid-configuration',
  ])('the preflight of %s lets a page send MCP-Protocol-Version', async (document) => {
    const preflight = await fetch(`${mount.url}/.well-known/${document}`, {
      method: 'OPTIONS',
      headers: {
        Origin: 'https://app.example',
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'mcp-protocol-version',
      },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([
      204,
      '*',
    ]);
    expect(preflight.headers.get('access-control-allow-headers')).toMatch(
      /\bMCP-Protocol-Version\b/i,
    );
    expect(preflight.headers.get('access-control-allow-methods')).toMatch(/\bGET\b/);
  });

  // @shows AS-6.27
  test.each([
    '/oauth/token',
    '/oauth/revoke',
    '/oauth/userinfo',
    '/.well-known/jwks.json',
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-protected-resource/mcp',
  ])(
    'the preflight of %s lets a page of any origin send the header fields of tracing',
    async (path) => {
      const asked = 'authorization,baggage,sentry-trace,traceparent';
      const headers = { Origin: 'https://app.example', 'Access-Control-Request-Headers': asked };
      const preflight = await fetch(mount.url + path, { method: 'OPTIONS', headers });
      expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([
        204,
        '*',
      ]);
      const allowed = preflight.headers
        .get('access-control-allow-headers')
        ?.toLowerCase()
        .split(', ');
      expect(allowed).toEqual(expect.arrayContaining(asked.split(',')));
      expect(preflight.headers.get('vary')?.toLowerCase()).toContain(
        'access-control-request-headers',
      );
      expect(preflight.headers.has('access-control-allow-credentials')).toBe(false);
    },
  );

  test('headers of a proxy do not change the issuer', async () => {
    const response = await fetch(`${mount.url}/.well-known/openid-configuration`, {
      headers: {
        'X-Forwarded-Host': 'evil.example',
        'X-Forwarded-Proto': 'https',
        'X-Forwarded-Port': '443',
        Forwarded: 'host=evil.example;proto=https',
      },
    });
    const document = await response.text();
    expect(document).not.toContain('evil.example');
    expect(JSON.parse(document)).toMatchObject({
      issuer: mount.url,
      token_endpoint: `${mount.url}/oauth/token`,
    });
  });

  test.each([
    '//',
    '//evil.example/.well-known/jwks.json',
    '/x/../.well-known/jwks.json',
    '/x/%2e%2e/.well-known/jwks.json',
    '/\\evil/.well-known\\jwks.json',
    'http://u:p@evil.example/.well-known/jwks.json',
  ])('the target %s is not an endpoint, and not a server error', async (target) => {
    const { hostname, port } = new URL(mount.url);
    const socket = connect(Number(port), hostname);
    socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 [234]/);
    expect(contender.normalises || !answer.includes('"keys"')).toBe(true);
    expect((await fetch(`${mount.url}/.well-known/jwks.json`)).status).toBe(200);
  });

  test('the host of a target in absolute form changes nothing, and causes no server error', async () => {
    const { hostname, port } = new URL(mount.url);
    const socket = connect(Number(port), hostname);
    const target = 'http://evil.example/.well-known/openid-configuration';
    socket.write(`GET ${target} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n`);
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 [234]/);
    const issuers = [...answer.matchAll(/"issuer":"([^"]*)"/g)].map(([, issuer]) => issuer);
    expect(issuers.filter((issuer) => issuer !== mount.url)).toEqual([]);
  });

  test('repeated and unknown fields of a form arrive with any parser of the host', async () => {
    const post = (body: string) =>
      fetch(`${mount.url}/oauth/token`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body,
      });
    expect(await (await post('grant_type=a&grant_type=b')).json()).toMatchObject({
      error: 'invalid_request',
    });
    // If the parameter were accepted, the server would reject the value as one that this client may
    // not use.
    for (const brackets of ['[]', '[0]', '[a]', '%5B%5D']) {
      const bracketed = await post(
        `grant_type${brackets}=client_credentials&client_id=${clientId}&client_secret=${clientSecret}`,
      );
      expect([brackets, bracketed.status, await bracketed.json()]).toMatchObject([
        brackets,
        400,
        { error: 'invalid_request' },
      ]);
    }
    const unknown = await post(
      `grant_type=refresh_token&client_id=${clientId}&a[b]=1&a[b]=2&client_secret=x`,
    );
    expect(unknown.status).toBeGreaterThan(399);
    expect(unknown.status).toBeLessThan(402);
  });

  test('the person’s own page, and CORS for browser applications', async () => {
    const visitor = createVisitor(mount.url);
    await authorize(visitor);
    expect(await (await visitor.get('/oauth/applications')).text()).toContain('Shop assistant');
    const preflight = await fetch(`${mount.url}/oauth/token`, {
      method: 'OPTIONS',
      headers: { Origin: 'https://app.example', 'Access-Control-Request-Method': 'POST' },
    });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([
      204,
      '*',
    ]);
  });
}
