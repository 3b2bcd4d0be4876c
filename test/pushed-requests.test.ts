import { readFile } from 'node:fs/promises';
import * as openid from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { claimsOf, headerOf, newKey, signed, withAssertion } from './support/assertions.ts';
import { createClock } from './support/clock.ts';
import {
  ADA,
  authorizationUrl,
  errorOf,
  exchangeCode,
  GRACE,
  REDIRECT_URI,
  registerClient,
  signIn,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { push, pushedNow, pushedUrl, requestUriOf } from './support/pushing.ts';
import { formOf, locationOf, type Visitor } from './support/visitor.ts';

/** Authorization requests that clients push (RFC 9126). */

const clock = createClock();
let portal: RunningPortal;
let client: TestClient;
let ada: Visitor;
/** Servers with another option, on the portal's database. */
let requiring: RunningPortal;
let off: RunningPortal;

beforeAll(async () => {
  portal = await startWith('accept');
  client = await registerClient(portal);
  ada = await portal.signedIn(ADA);
  requiring = await startWith('require', portal.env['DATABASE_URL']);
  off = await startWith('off', portal.env['DATABASE_URL']);
});
afterAll(async () => {
  await off.close();
  await requiring.close();
  await portal.close();
});

function startWith(mode: string, databaseUrl?: string): Promise<RunningPortal> {
  return startPortal({
    clock: clock.now,
    config: { oauth_server: { pushed_authorization_requests: mode, private_key_jwt: true } },
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
  });
}

async function allowed(visitor: Visitor, page: Response): Promise<string> {
  expect(page.status).toBe(200);
  const answer = locationOf(await visitor.submit(page, { decision: 'allow' }));
  expect(answer.href.startsWith(REDIRECT_URI)).toBe(true);
  expect(answer.searchParams.get('state')).toBe('the-state');
  return answer.searchParams.get('code') ?? '';
}

async function tokensOf(code: string): Promise<Tokens> {
  const response = await exchangeCode(portal, client, code);
  expect(response.status).toBe(200);
  return (await response.json()) as Tokens;
}

async function expectPage(
  response: Response,
  text = 'This link can no longer be used',
): Promise<void> {
  expect([response.status, response.headers.get('location')]).toEqual([400, null]);
  expect(await response.text()).toContain(text);
}

async function metadataOf(at: RunningPortal): Promise<Record<string, unknown>> {
  const response = await fetch(`${at.url}/.well-known/oauth-authorization-server`);
  return (await response.json()) as Record<string, unknown>;
}

const logOf = (at: RunningPortal) => readFile(`${at.env['STORAGE_DIR'] ?? ''}/app.log`, 'utf8');

describe('pushed_authorization_requests', () => {
  // @shows AS-25.1, RFC9126-5a
  test('off: there is no endpoint, the metadata omits it, and a request_uri is refused', async () => {
    expect((await push(off, client)).status).toBe(404);
    const metadata = await metadataOf(off);
    expect(metadata['pushed_authorization_request_endpoint']).toBeUndefined();
    expect(metadata['require_pushed_authorization_requests']).toBeUndefined();
    const requestUri = await requestUriOf(await push(portal, client));
    const url = authorizationUrl(off, client, { request_uri: requestUri });
    const answer = locationOf(await off.visitor().get(url));
    expect(answer.searchParams.get('error')).toBe('request_uri_not_supported');
  });

  // @shows AS-25.1, RFC9126-5a
  test('accept: the metadata contains the endpoint, and other requests are accepted too', async () => {
    const metadata = await metadataOf(portal);
    expect(metadata['pushed_authorization_request_endpoint']).toBe(
      `${portal.server.issuer}/oauth/par`,
    );
    expect(metadata['require_pushed_authorization_requests']).toBeUndefined();
    expect((await ada.visit(authorizationUrl(portal, client))).status).toBe(200);
  });

  // @shows AS-25.1, AS-25.8, RFC9126-5b
  test('require: the metadata announces this, and other requests are refused', async () => {
    const metadata = await metadataOf(requiring);
    expect(metadata['require_pushed_authorization_requests']).toBe(true);
    const there = await requiring.signedIn(ADA);
    const answer = locationOf(await there.get(authorizationUrl(requiring, client)));
    expect(answer.searchParams.get('error')).toBe('invalid_request');
    const posted = await requiring
      .visitor()
      .post(
        '/oauth/authorize',
        Object.fromEntries(new URL(authorizationUrl(requiring, client)).searchParams),
      );
    expect(locationOf(posted).searchParams.get('error')).toBe('invalid_request');
    expect((await there.visit(await pushedNow(requiring, client))).status).toBe(200);
  });

  // @shows AS-25.1
  test('pages of any origin may push requests, as they may request tokens', async () => {
    const preflight = await fetch(`${portal.url}/oauth/par`, {
      method: 'OPTIONS',
      headers: { Origin: 'https://spa.example', 'Access-Control-Request-Method': 'POST' },
    });
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    expect((await push(portal, client)).headers.get('access-control-allow-origin')).toBe('*');
  });
});

describe('the pushed authorization request endpoint', () => {
  // @shows AS-25.2, RFC9126-2.2
  test('answers 201 with a request_uri that is valid for a minute, and with no-store', async () => {
    const response = await push(portal, client);
    expect(response.status).toBe(201);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('content-type')).toBe('application/json');
    const body = (await response.json()) as Record<string, unknown>;
    expect(body).toEqual({ request_uri: expect.any(String) as unknown, expires_in: 60 });
    expect(body['request_uri']).toMatch(/^urn:ietf:params:oauth:request_uri:[\w-]{43}$/);
  });

  // @shows AS-25.3, RFC9126-2.1a
  test('authenticates the client like the token endpoint', async () => {
    expect(await errorOf(await push(portal, { ...client, secret: 'wrong' }))).toBe(
      'invalid_client',
    );
    const nothing = await push(portal, { ...client, secret: '' });
    expect(nothing.status).toBe(401);
    expect(await errorOf(nothing)).toBe('invalid_client');
    const inBody = await push(
      portal,
      { id: client.id, secret: '' },
      { client_secret: client.secret },
    );
    expect(inBody.status).toBe(201);
    const app = await registerClient(portal, { public: true });
    expect((await push(portal, app)).status).toBe(201);
    expect((await push(portal, { id: 'unknown', secret: '' })).status).toBe(401);
    const revoked = await registerClient(portal);
    await portal.server.clients.revoke(revoked.id);
    expect((await push(portal, revoked)).status).toBe(401);
    const other = await push(portal, client, { client_id: app.id });
    expect([other.status, await errorOf(other)]).toEqual([400, 'invalid_request']);
    const unnamed = await push(portal, client, { client_id: undefined });
    expect([unnamed.status, await errorOf(unnamed)]).toEqual([400, 'invalid_request']);
  });

  // @shows AS-25.3
  test('delays guesses of a secret, counted together with those at the token endpoint', async () => {
    const guessed = await registerClient(portal);
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 12; attempt += 1) {
      statuses.push((await push(portal, { ...guessed, secret: `wrong-${attempt}` })).status);
    }
    expect(statuses).toContain(429);
    clock.advance(3600);
  });

  // @shows AS-25.3, RFC9126-2a
  test('accepts assertions for the issuer, the token endpoint and itself, each of them once', async () => {
    const key = newKey('ES256');
    const keyed = await registerClient(portal, { jwks: { keys: [key.jwk] } });
    const { issuer } = portal.server;
    const assertionFor = (audience: unknown) =>
      withAssertion(signed(key, headerOf(key), claimsOf(keyed.id, audience, clock.now())));
    const pushing = (form: Readonly<Record<string, string>>) => push(portal, keyed, form);
    for (const audience of [issuer, `${issuer}/oauth/token`, `${issuer}/oauth/par`]) {
      expect((await pushing(assertionFor(audience))).status).toBe(201);
    }
    expect((await pushing(assertionFor('https://another.example'))).status).toBe(401);
    expect((await pushing(assertionFor(`${issuer}/oauth/revoke`))).status).toBe(401);
    const used = assertionFor(issuer);
    expect((await pushing(used)).status).toBe(201);
    expect((await pushing(used)).status).toBe(401);
    const token = (form: Readonly<Record<string, string>>) =>
      fetch(`${portal.url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
    const atToken = { grant_type: 'refresh_token', refresh_token: 'none' };
    expect(await errorOf(await token({ ...atToken, ...used }))).toBe('invalid_client');
    // An assertion for this endpoint does not work at another one.
    const forPar = assertionFor(`${issuer}/oauth/par`);
    expect(await errorOf(await token({ ...atToken, ...forPar }))).toBe('invalid_client');
    expect((await pushing(forPar)).status).toBe(201);
  });

  // @shows AS-25.4, RFC9126-2.1b, RFC9126-2.1c, RFC9126-2.3
  test.each([
    ['a request_uri', { request_uri: 'urn:ietf:params:oauth:request_uri:x' }, 'invalid_request'],
    ['a request object', { request: 'e30.e30.' }, 'request_not_supported'],
    ['no redirect_uri', { redirect_uri: undefined }, 'invalid_request'],
    [
      'a different redirect_uri',
      { redirect_uri: 'https://client.example/other' },
      'invalid_request',
    ],
    ['no PKCE', { code_challenge: undefined }, 'invalid_request'],
    ['the plain method', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['an unknown scope', { scope: 'everything' }, 'invalid_scope'],
    ['a different resource', { resource: 'https://another.example' }, 'invalid_target'],
    ['the response type token', { response_type: 'token' }, 'unsupported_response_type'],
    ['a different response mode', { response_mode: 'fragment' }, 'invalid_request'],
    ['prompt=none', { prompt: 'none' }, 'interaction_required'],
    ['max_age', { max_age: '1' }, 'invalid_request'],
  ])('refuses %s like the authorization endpoint, as JSON', async (_, changes, error) => {
    const response = await push(portal, client, changes);
    expect([response.status, await errorOf(response)]).toEqual([400, error]);
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  // @shows AS-25.4
  test('refuses a client without the grant type, a repeated parameter, a non-form or large body', async () => {
    const service = await registerClient(portal, {
      redirectUris: [],
      scopes: ['notes:read'],
      grants: ['client_credentials'],
    });
    expect((await push(portal, service)).status).toBe(400);
    const post = (body: BodyInit) => fetch(`${portal.url}/oauth/par`, { method: 'POST', body });
    const app = await registerClient(portal, { public: true });
    const twice = new URL(authorizationUrl(portal, app)).searchParams;
    twice.append('state', 'another');
    expect(await errorOf(await post(twice))).toBe('invalid_request');
    expect(await errorOf(await post(JSON.stringify({ client_id: app.id })))).toBe(
      'invalid_request',
    );
    const large = await push(portal, app, { state: 'a'.repeat(70_000) });
    expect(large.status).toBe(413);
    expect((await fetch(`${portal.url}/oauth/par`)).status).toBe(405);
  });
});

describe('a pushed request', () => {
  // @shows AS-25.5, RFC9126-4a, RFC9126-1
  test('is shown as it was pushed, without parameters that the browser adds', async () => {
    const requestUri = await requestUriOf(await push(portal, client, { scope: 'notes:read' }));
    const page = await ada.visit(
      pushedUrl(portal, client, requestUri, {
        scope: 'openid notes:write',
        redirect_uri: 'https://attacker.example/',
        state: 'another',
        response_type: 'token',
        code_challenge: 'another',
      }),
    );
    expect(page.url).toContain('/oauth/authorize');
    const { scope } = await tokensOf(await allowed(ada, page));
    expect(scope).toBe('notes:read');
  });

  // @shows AS-25.5, AS-25.6, RFC9126-4b
  test('waits while a person signs in, and continues as it was pushed', async () => {
    for (const at of [portal, requiring]) {
      const visitor = at.visitor();
      const url = await pushedNow(at, client, { scope: 'notes:read' });
      const login = await visitor.visit(url);
      expect(new URL(login.url).pathname).toBe('/login');
      expect(login.url).not.toContain('request_uri');
      // The request is reloaded before and after the minute is over.
      expect(new URL((await visitor.visit(url)).url).pathname).toBe('/login');
      clock.advance(120);
      const again = await visitor.visit(url);
      expect(new URL(again.url).pathname).toBe('/login');
      const back = await signIn(visitor, again, ADA);
      const page = await visitor.visit(locationOf(back).href);
      const { scope } = await tokensOf(await allowed(visitor, page));
      expect(scope).toBe('notes:read');
    }
  });

  // @shows AS-25.5, AS-7.13
  test('keeps its place among the waiting requests of a browser, however often it is opened', async () => {
    const visitor = portal.visitor();
    const url = await pushedNow(portal, client);
    await visitor.visit(url);
    for (let tab = 0; tab < 7; tab += 1) {
      clock.advance(1);
      await visitor.visit(authorizationUrl(portal, client));
    }
    const login = await visitor.visit(url);
    const page = await visitor.visit(locationOf(await signIn(visitor, login, ADA)).href);
    await tokensOf(await allowed(visitor, page));
  });

  // @shows AS-25.6, RFC9126-4b
  test('is shown again only in the browser that opened it, until it is answered', async () => {
    const url = await pushedNow(portal, client);
    const page = await ada.visit(url);
    const { fields } = formOf(await page.clone().text());
    clock.advance(120);
    const reloaded = await ada.visit(url);
    expect(reloaded.status).toBe(200);
    expect(formOf(await reloaded.text()).fields['request_id']).toBe(fields['request_id']);
    const elsewhere = await portal.signedIn(ADA);
    await expectPage(await elsewhere.visit(url), 'This request can no longer be answered');
    await expectPage(
      await (await portal.signedIn(GRACE)).visit(url),
      'This request can no longer be answered',
    );
    await expectPage(await portal.visitor().visit(url));
    await tokensOf(await allowed(ada, page));
    await expectPage(await ada.visit(url), 'You already answered this request');
    await expectPage(await elsewhere.visit(url), 'This request can no longer be answered');
  });

  // @shows AS-25.6
  test('can be opened by a person after it was opened in a browser that was not signed in', async () => {
    const url = await pushedNow(portal, client);
    const early = portal.visitor();
    const login = await early.visit(url);
    const page = await ada.visit(url);
    await tokensOf(await allowed(ada, page));
    const back = await signIn(early, login, ADA);
    await expectPage(
      await early.visit(locationOf(back).href),
      'This request can no longer be answered',
    );
  });

  // @shows AS-25.6, RFC9126-2.2, RFC9126-4c
  test('works only for its client, and only for a minute', async () => {
    const other = await registerClient(portal);
    const requestUri = await requestUriOf(await push(portal, client));
    await expectPage(await ada.visit(pushedUrl(portal, other, requestUri)));
    await expectPage(await ada.visit(pushedUrl(portal, { id: '' }, requestUri)));
    expect((await ada.visit(pushedUrl(portal, client, requestUri))).status).toBe(200);
    const late = await pushedNow(portal, client);
    clock.advance(60);
    await expectPage(await ada.visit(late));
    await expectPage(await portal.visitor().visit(late));
    const unknown = `urn:ietf:params:oauth:request_uri:${'A'.repeat(43)}`;
    await expectPage(await ada.visit(pushedUrl(portal, client, unknown)));
    await expectPage(await ada.visit(pushedUrl(portal, client, `${unknown}A`)));
  });

  // @shows AS-31.9
  test('cannot be used after oauth:restored, but one that is pushed later can', async () => {
    const url = await pushedNow(portal, client);
    await portal.server.access.endAll();
    await expectPage(await ada.visit(url));
    await tokensOf(await allowed(ada, await ada.visit(await pushedNow(portal, client))));
  });

  // @shows AS-25.7
  test('is refused if request_uri is repeated or sent with request; other kinds stay unsupported', async () => {
    const url = await pushedNow(portal, client);
    await expectPage(await ada.visit(`${url}&request_uri=urn:another`));
    await expectPage(await ada.visit(`${url}&request=e30.e30.`));
    await expectPage(await ada.visit(`${url}&client_id=another`));
    const foreign = authorizationUrl(portal, client, {
      request_uri: 'https://client.example/request',
    });
    const answer = locationOf(await ada.get(foreign));
    expect(answer.searchParams.get('error')).toBe('request_uri_not_supported');
    const object = authorizationUrl(portal, client, { request: 'e30.e30.' });
    expect(locationOf(await ada.get(object)).searchParams.get('error')).toBe(
      'request_not_supported',
    );
    expect((await ada.visit(url)).status).toBe(200);
  });

  // @shows AS-25.5, RFC9126-4a
  test('can be opened with a form POST too', async () => {
    const requestUri = await requestUriOf(await push(requiring, client));
    const there = await requiring.signedIn(ADA);
    const posted = await requiring
      .visitor()
      .post('/oauth/authorize', { client_id: client.id, request_uri: requestUri });
    expect(posted.status).toBe(303);
    for (const cookie of posted.headers.getSetCookie()) there.accept(cookie);
    const page = await there.visit(locationOf(posted).href);
    expect((await tokensOf(await allowed(there, page))).scope).toContain('notes:read');
  });

  // @shows AS-25.5
  test('is checked again: rights that the client has lost in the meantime are not granted', async () => {
    const revoked = await registerClient(portal);
    const url = await pushedNow(portal, revoked);
    await portal.server.clients.revoke(revoked.id);
    await expectPage(await ada.visit(url), 'Unknown application');
  });

  // @shows AS-25.6
  test('for which the person has no permission is answered once, with an error', async () => {
    await portal.deny(GRACE, 'notes:write');
    const grace = await portal.signedIn(GRACE);
    const url = await pushedNow(portal, client, { scope: 'notes:write' });
    expect(locationOf(await grace.get(url)).searchParams.get('error')).toBe('access_denied');
    await expectPage(await grace.get(url), 'This request can no longer be answered');
    await portal.grant(GRACE, 'notes:write');
    await expectPage(await grace.get(url), 'This request can no longer be answered');
  });

  // @shows AS-25.6
  test('is answered once, even if it waits for a sign-in in another browser meanwhile', async () => {
    const url = await pushedNow(portal, client, { scope: 'notes:write' });
    const early = portal.visitor();
    const login = await early.visit(url);
    await portal.deny(GRACE, 'notes:write');
    const refused = await (await portal.signedIn(GRACE)).get(url);
    await portal.grant(GRACE, 'notes:write');
    expect(locationOf(refused).searchParams.get('error')).toBe('access_denied');
    const back = await signIn(early, login, ADA);
    await expectPage(
      await early.visit(locationOf(back).href),
      'This request can no longer be answered',
    );
  });

  // @shows AS-25.6
  test('continues for a different person after "Not you?" if pushed requests are required', async () => {
    const there = await requiring.signedIn(GRACE);
    const url = await pushedNow(requiring, client, { scope: 'notes:read' });
    const login = await there.visit(
      locationOf(await there.submit(await there.visit(url), { decision: 'switch' })).href,
    );
    const back = await signIn(there, login, ADA);
    const page = await there.visit(locationOf(back).href);
    await tokensOf(await allowed(there, page));
    await expectPage(await there.visit(url), 'This request can no longer be answered');
  });

  // @shows AS-25.8
  test('that waits in a browser cannot be replaced by a request that was not pushed', async () => {
    // A request that began where other requests are accepted. It waits in a cookie of the same
    // kind.
    const visitor = portal.visitor();
    const login = await visitor.visit(authorizationUrl(portal, client));
    const there = await requiring.signedIn(ADA);
    for (const cookie of visitor.cookies().split('; ')) {
      if (cookie.startsWith('portico_request_')) there.accept(`${cookie}; Path=/oauth/authorize`);
    }
    const returnTo = new URL(login.url).searchParams;
    const requestId =
      /request_id=([\w-]{43})/.exec(decodeURIComponent(returnTo.toString()))?.[1] ?? '';
    expect(requestId).not.toBe('');
    const answer = locationOf(await there.get(`/oauth/authorize?request_id=${requestId}`));
    expect(answer.searchParams.get('error')).toBe('invalid_request');
  });

  // @shows AS-25.8
  test('is required even for an open consent request: an unpushed one cannot be shown or answered', async () => {
    const page = await ada.get(authorizationUrl(portal, client));
    const { fields } = formOf(await page.clone().text());
    const there = requiring.visitor();
    for (const cookie of ada.cookies().split('; ')) there.accept(`${cookie}; Path=/`);
    const again = await there.get(`/oauth/authorize?request_id=${fields['request_id'] ?? ''}`);
    await expectPage(again, 'can no longer be answered');
    await expectPage(
      await there.post('/oauth/authorize', { ...fields, decision: 'allow' }),
      'can no longer be answered',
    );
    expect(await logOf(requiring)).toContain('but the request was not pushed');
    expect(await allowed(ada, page)).not.toBe('');
  });

  // @shows AS-25.9
  test('is deleted when it is shown, and the log contains neither it nor its request_uri', async () => {
    const state = 'a-state-that-is-nowhere-else';
    const url = await pushedNow(portal, client, { state });
    const requestUri = new URL(url).searchParams.get('request_uri') ?? '';
    const secret = requestUri.split(':').at(-1) ?? '';
    const kept = async () =>
      JSON.stringify(
        (await portal.application.database.execute('SELECT * FROM oauth_waiting_requests')).rows,
      );
    expect(await kept()).toContain(state);
    expect(await kept()).not.toContain(secret);
    await push(portal, client, { state, scope: 'everything' });
    expect((await ada.visit(url)).status).toBe(200);
    expect(await kept()).not.toContain(state);
    await expectPage(await (await portal.signedIn(GRACE)).visit(url), 'can no longer be answered');
    await expectPage(await ada.visit(`${url}&request_uri=${requestUri}`));
    const log = await logOf(portal);
    expect(log).not.toContain(state);
    expect(log).not.toContain(secret);
  });
});

describe('a client that requires pushed requests', () => {
  // @shows AS-25.8, RFC9126-6
  test('is refused without a pushed request, with any server setting', async () => {
    const demanding = await registerClient(portal, { requirePushedAuthorizationRequests: true });
    for (const at of [portal, requiring, off]) {
      const visitor = await at.signedIn(ADA);
      const answer = locationOf(await visitor.get(authorizationUrl(at, demanding)));
      expect(answer.searchParams.get('error')).toBe('invalid_request');
    }
    expect((await ada.visit(await pushedNow(portal, demanding))).status).toBe(200);
    const log = await logOf(portal);
    expect(log).toContain(
      'the client is registered to push its requests, and did not push this one',
    );
  });

  // @shows AS-25.8
  test('cannot be registered if the server does not accept pushed requests', async () => {
    await expect(registerClient(off, { requirePushedAuthorizationRequests: true })).rejects.toThrow(
      'pushed_authorization_requests is off',
    );
  });
});

// @shows AS-25.5
test('openid-client pushes a request, and signs a person in', async () => {
  const atClock = { [openid.clockSkew]: Math.round((clock.now() - Date.now()) / 1000) };
  const config = await openid.discovery(
    new URL(requiring.server.issuer),
    client.id,
    atClock,
    openid.ClientSecretBasic(client.secret),
    { execute: [openid.allowInsecureRequests] },
  );
  const verifier = openid.randomPKCECodeVerifier();
  const url = await openid.buildAuthorizationUrlWithPAR(config, {
    redirect_uri: REDIRECT_URI,
    scope: 'openid notes:read',
    state: 'the-state',
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  expect([...url.searchParams.keys()].toSorted()).toEqual(['client_id', 'request_uri']);
  const there = await requiring.signedIn(ADA);
  const answer = locationOf(await there.submit(await there.visit(url.href), { decision: 'allow' }));
  const tokens = await openid.authorizationCodeGrant(config, answer, {
    pkceCodeVerifier: verifier,
    expectedState: 'the-state',
  });
  expect(tokens.scope).toBe('openid notes:read');
});
