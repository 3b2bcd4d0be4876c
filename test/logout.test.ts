// @engines all: post-logout redirect URIs are in the store
import path from 'node:path';
import * as openid from 'openid-client';
import {
  AUDIT,
  createAuthorizationServer,
  oauthServerConfiguration,
  type AuditEvent,
  type AuthorizationServer,
  type Endpoint,
  type Host,
} from 'portico';
import { beforeEach, describe, expect, test } from 'vitest';
import { newKey, signed } from './support/assertions.ts';
import { porticoHere, ROOT } from './support/console.ts';
import { openForTests } from './support/every-run.ts';
import {
  ADA,
  exchangeCode,
  GRACE,
  obtainCode,
  PASSWORD,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
  type Tokens,
} from './support/portal.ts';
import { waysOf } from './support/scale.ts';
import { createVisitor, formOf, locationOf, type Visitor } from './support/visitor.ts';

/** OpenID Connect RP-Initiated Logout 1.0. */

const BACK = 'https://client.example/signed-out';
const CONFIG = { oauth_server: { logout: true, registration: 'open' } } as const;

let portal: RunningPortal;
let client: TestClient;
let other: TestClient;
/** How far the server's clock is ahead, in milliseconds. */
let ahead = 0;
/** How far the host's clock is ahead, in milliseconds. */
let hostAhead = 0;
let ada: Visitor;
let idToken = '';

openForTests(async () => {
  [ahead, hostAhead] = [0, 0];
  const started = await startPortal({
    clock: () => Date.now() + ahead,
    hostClock: () => Date.now() + hostAhead,
    config: CONFIG,
  });
  portal = started;
  return () => started.close();
});
beforeEach(async () => {
  [ahead, hostAhead] = [0, 0];
  client = await registerClient(portal, { metadata: { post_logout_redirect_uris: [BACK] } });
  other = await registerClient(portal, { metadata: { post_logout_redirect_uris: [BACK] } });
  ada = await portal.signedIn(ADA);
  idToken = await idTokenOf(client, ada);
});

async function idTokenOf(of: TestClient, visitor: Visitor): Promise<string> {
  const response = await exchangeCode(portal, of, await obtainCode(portal, of, visitor));
  return ((await response.json()) as Tokens).id_token;
}

const logoutUrl = (parameters: Readonly<Record<string, string>>) =>
  `${portal.url}/oauth/logout?${new URLSearchParams(parameters)}`;
const textOf = async (response: Response) =>
  (await response.clone().text()).replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
const isSignedIn = async (visitor: Visitor) =>
  (await visitor.get('/oauth/applications')).status === 200;
const answer = (page: Response, decision: 'logout' | 'stay', visitor = ada) =>
  visitor.submit(page, { decision });

describe('RP-initiated logout with an ID token of the signed-in person', () => {
  // @shows AS-2.51, AS-51.1
  test('ends the session immediately, and the browser returns with the state', async () => {
    const response = await ada.get(
      logoutUrl({ id_token_hint: idToken, post_logout_redirect_uri: BACK, state: 'a b' }),
    );
    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toBe(`${BACK}?state=a+b`);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await isSignedIn(ada)).toBe(false);
  });

  // @shows AS-51.1
  test('accepts an expired token, and a form request', async () => {
    ahead = 2 * 86_400_000;
    const begun = await ada.post(`${portal.url}/oauth/logout`, {
      id_token_hint: idToken,
      client_id: client.id,
      post_logout_redirect_uri: BACK,
      logout_hint: ADA,
      ui_locales: 'en',
    });
    expect(begun.status).toBe(303);
    const response = await ada.get(locationOf(begun).href);
    expect(response.headers.get('location')).toBe(BACK);
    expect(await isSignedIn(ada)).toBe(false);
  });

  // @shows AS-51.1
  test('accepts a long token, for example with a long nonce', async () => {
    const nonce = 'n'.repeat(7000);
    const code = await obtainCode(portal, client, ada, { nonce });
    const { id_token: hint } = (await (await exchangeCode(portal, client, code)).json()) as Tokens;
    const response = await ada.get(
      logoutUrl({ id_token_hint: hint, post_logout_redirect_uri: BACK }),
    );
    expect(response.headers.get('location')).toBe(BACK);
    expect(await isSignedIn(ada)).toBe(false);
  });

  // @shows AS-51.1
  test('shows a page that the person is signed out if there is no URI to return to', async () => {
    const response = await ada.get(logoutUrl({ id_token_hint: idToken }));
    expect(await textOf(response)).toContain('You are signed out');
    expect(await isSignedIn(ada)).toBe(false);
  });

  // @shows AS-51.2
  test('is not triggered by an image or a frame of another site', async () => {
    for (const destination of ['image', 'iframe', 'empty']) {
      const response = await ada.get(logoutUrl({ id_token_hint: idToken }), {
        'Sec-Fetch-Dest': destination,
      });
      expect(await textOf(response)).toContain('Sign out of');
    }
    expect(await isSignedIn(ada)).toBe(true);
  });

  // @shows AS-51.2
  test.each(
    waysOf([
      ['Sec-Purpose', 'prefetch'],
      ['Sec-Purpose', 'prefetch;prerender'],
      ['Purpose', 'prefetch'],
    ] as const),
  )(
    'is not triggered by a browser that loads the page in advance (%s: %s)',
    async (name, value) => {
      const response = await ada.get(logoutUrl({ id_token_hint: idToken }), { [name]: value });
      expect(await textOf(response)).toContain('Sign out of');
      expect(await isSignedIn(ada)).toBe(true);
    },
  );

  // @shows AS-51.6
  test('works with the request that openid-client builds from the metadata', async () => {
    const config = await openid.discovery(
      new URL(portal.url),
      client.id,
      client.secret,
      undefined,
      { execute: [openid.allowInsecureRequests] },
    );
    expect(config.serverMetadata().end_session_endpoint).toBe(`${portal.url}/oauth/logout`);
    const url = openid.buildEndSessionUrl(config, {
      id_token_hint: idToken,
      post_logout_redirect_uri: BACK,
      state: 'x',
    });
    expect(locationOf(await ada.get(url.href)).href).toBe(`${BACK}?state=x`);
  });
});

describe('RP-initiated logout without a valid ID token', () => {
  // @shows AS-51.2
  test('signs out and redirects only after the person confirms', async () => {
    const page = await ada.get(
      logoutUrl({ client_id: client.id, post_logout_redirect_uri: BACK, state: 's' }),
    );
    expect(page.status).toBe(200);
    expect(await textOf(page)).toContain('Test application asks you to sign out.');
    expect(await isSignedIn(ada)).toBe(true);
    const response = await answer(page, 'logout');
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe(`${BACK}?state=s`);
    expect(await isSignedIn(ada)).toBe(false);
  });

  // @shows AS-51.2
  test.each(['nothing', 'a token of another person', 'a forged token', 'no token at all'])(
    'must be confirmed also with %s',
    async (what) => {
      const grace = await portal.signedIn(GRACE);
      const hints: Readonly<Record<string, () => string | Promise<string>>> = {
        'a token of another person': () => idTokenOf(client, grace),
        'a forged token': () => `${idToken.slice(0, -8)}AAAAAAAA`,
        'no token at all': () => 'nonsense',
      };
      const hint = await hints[what]?.();
      const page = await ada.get(logoutUrl(hint === undefined ? {} : { id_token_hint: hint }));
      expect(await textOf(page)).toContain('Sign out of');
      expect(await isSignedIn(ada)).toBe(true);
      expect(await textOf(await answer(page, 'stay'))).toContain('You are still signed in');
      expect(await isSignedIn(ada)).toBe(true);
    },
  );

  // @shows AS-51.2
  test('must be confirmed with an invalid token, or one signed with a different key', async () => {
    const [, payload = ''] = idToken.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<
      string,
      unknown
    >;
    const key = newKey('RS256', 'own');
    const forged = signed(key, { alg: 'RS256', typ: 'JWT', kid: kidOf(idToken) }, claims);
    const none = `${Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')}.${payload}.`;
    for (const hint of [forged, none]) {
      const page = await ada.get(
        logoutUrl({
          id_token_hint: hint,
          client_id: client.id,
          post_logout_redirect_uri: BACK,
        }),
      );
      expect(await textOf(page)).toContain('Sign out of');
      const done = await answer(page, 'logout', await portal.signedIn(ADA));
      expect(done.headers.get('location')).toBeNull();
    }
    expect(await isSignedIn(ada)).toBe(true);
  });

  // @shows AS-51.2
  test('cannot be confirmed by a form of a different page or person', async () => {
    const page = await ada.get(logoutUrl({ client_id: client.id }));
    const grace = await portal.signedIn(GRACE);
    const { fields } = formOf(await page.text());
    const forms = [{ ...fields, csrf_token: 'x' }, { request: fields['request'] ?? '' }];
    for (const form of forms) {
      const response = await ada.post(`${portal.url}/oauth/logout`, {
        ...form,
        decision: 'logout',
      });
      expect(response.status).toBe(400);
    }
    const foreign = { ...fields, decision: 'logout' };
    expect((await grace.post(`${portal.url}/oauth/logout`, foreign)).status).toBe(400);
    expect([await isSignedIn(ada), await isSignedIn(grace)]).toEqual([true, true]);
  });
});

describe('an outdated ID token in a logout request', () => {
  // @shows AS-51.2
  test('of an earlier session does not end the session without confirmation', async () => {
    [ahead, hostAhead] = [2000, 2000];
    const again = await portal.signedIn(ADA);
    const page = await again.get(logoutUrl({ id_token_hint: idToken }));
    expect(await textOf(page)).toContain('Sign out of');
    expect(await isSignedIn(again)).toBe(true);
  });

  // @shows AS-51.2
  test('proves nothing after the person removed the access of the client', async () => {
    const { items } = await portal.server.access.list({ clientId: client.id });
    for (const { id } of items) await portal.server.access.revokeAuthorization(id);
    const page = await ada.get(logoutUrl({ id_token_hint: idToken }));
    expect(await textOf(page)).toContain('Sign out of');
    expect(await isSignedIn(ada)).toBe(true);
  });
});

// @shows AS-51.2
test('an ID token in a logout request proves nothing after the access of its client has expired', async () => {
  const short = await registerClient(portal, {
    grants: ['authorization_code'],
    metadata: { post_logout_redirect_uris: [BACK] },
  });
  const sent = { id_token_hint: await idTokenOf(short, ada), post_logout_redirect_uri: BACK };
  [ahead, hostAhead] = [3_601_000, 3_601_000];
  const page = await ada.get(logoutUrl(sent));
  expect(await textOf(page)).toContain('Sign out of');
  expect(await isSignedIn(ada)).toBe(true);
  expect((await answer(page, 'logout')).headers.get('location')).toBe(BACK);
});

describe('a logout form of another site, with which browsers send no session cookie,', () => {
  // @shows AS-51.2
  test('is continued as a GET request, so that the page never reports a false success', async () => {
    const page = await ada.get(logoutUrl({ client_id: client.id }));
    const { fields } = formOf(await page.text());
    const sent = { ...fields, decision: 'logout' };
    const response = await createVisitor(portal.url).post(`${portal.url}/oauth/logout`, sent);
    expect(response.status).toBe(303);
    const shown = await ada.get(locationOf(response).href);
    expect(await textOf(shown)).toContain('Sign out of');
    expect(await isSignedIn(ada)).toBe(true);
  });
});

describe('between the logout page and its answer', () => {
  const askedBy = (of: TestClient) =>
    ada.get(logoutUrl({ client_id: of.id, post_logout_redirect_uri: BACK }));

  // @shows AS-51.3
  test.each<[string, (of: TestClient) => Promise<unknown>]>([
    ['the client is revoked', (of) => portal.server.clients.revoke(of.id)],
    [
      'the URI is removed',
      (of) => portal.server.clients.update(of.id, { metadata: { post_logout_redirect_uris: [] } }),
    ],
  ])('%s, and the answer then leads nowhere', async (_, end) => {
    const ended = await registerClient(portal, { metadata: { post_logout_redirect_uris: [BACK] } });
    const page = await askedBy(ended);
    await end(ended);
    const response = await answer(page, 'logout');
    expect([response.status, response.headers.get('location')]).toEqual([400, null]);
    expect(await isSignedIn(ada)).toBe(true);
  });

  // @shows AS-51.2
  test('the time limit continues, even if the form returns from another site', async () => {
    const stranger = createVisitor(portal.url);
    const again = async (page: Response) => {
      const { fields } = formOf(await page.text());
      const sent = { ...fields, decision: 'logout' };
      const response = await stranger.post(`${portal.url}/oauth/logout`, sent);
      return ada.get(locationOf(response).href);
    };
    const page = await askedBy(client);
    ahead = 400_000;
    const later = await again(page);
    expect(later.status).toBe(200);
    ahead = 700_000;
    expect((await answer(later, 'logout')).status).toBe(400);
  });
});

describe('logout does not redirect to a URI', () => {
  // @shows AS-51.3
  test.each<[string, () => Readonly<Record<string, string>>]>([
    [
      'that is not registered',
      () => ({ client_id: client.id, post_logout_redirect_uri: `${BACK}/` }),
    ],
    ['without a client', () => ({ post_logout_redirect_uri: BACK })],
    ['of an unknown client', () => ({ client_id: 'unknown', post_logout_redirect_uri: BACK })],
    [
      'if the token is for a different client',
      () => ({
        client_id: other.id,
        id_token_hint: idToken,
        post_logout_redirect_uri: BACK,
      }),
    ],
  ])('%s', async (_, parameters) => {
    for (const visitor of [ada, createVisitor(portal.url)]) {
      const response = await visitor.get(logoutUrl(parameters()));
      expect(response.status).toBe(400);
      expect(await textOf(response)).toContain('You cannot sign out this way');
    }
    expect(await isSignedIn(ada)).toBe(true);
  });

  // @shows AS-51.3
  test('if a parameter is repeated', async () => {
    const url = `${logoutUrl({ client_id: client.id, post_logout_redirect_uri: BACK })}&state=1&state=2`;
    const unread = `${logoutUrl({ id_token_hint: idToken })}&logout_hint=a&logout_hint=b`;
    const posted = { method: 'POST', body: new URL(url).searchParams } as const;
    const answers = [ada.get(url), ada.get(unread), fetch(`${portal.url}/oauth/logout`, posted)];
    for (const response of await Promise.all(answers)) {
      expect(response.status).toBe(400);
      expect(await textOf(response)).toContain('You cannot sign out this way');
    }
    expect(await isSignedIn(ada)).toBe(true);
  });

  // @shows AS-51.3
  test.each<[string, Readonly<Record<string, string>>]>([
    ['the state', { state: 's'.repeat(2001) }],
    ['the URI', { post_logout_redirect_uri: `${BACK}?${'a'.repeat(6000)}` }],
  ])('if %s is too long for the URL of the page', async (_, long) => {
    const sent = { client_id: client.id, post_logout_redirect_uri: BACK, ...long };
    const form = await ada.post(`${portal.url}/oauth/logout`, sent);
    expect([form.status, form.headers.get('location')]).toEqual([400, null]);
    expect((await ada.get(logoutUrl(sent))).status).toBe(400);
  });

  // @shows AS-51.1
  test('but returns the longest allowed state, also if it is sent by a form', async () => {
    const state = '\u0007'.repeat(300);
    const sent = { id_token_hint: idToken, post_logout_redirect_uri: BACK, state };
    const begun = await ada.post(`${portal.url}/oauth/logout`, sent);
    const back = await ada.get(locationOf(begun).href);
    expect(locationOf(back).searchParams.get('state')).toBe(state);
  });

  // @shows AS-51.4
  test('without a session, unless the token identifies the client', async () => {
    const stranger = createVisitor(portal.url);
    const without = await stranger.get(
      logoutUrl({ client_id: client.id, post_logout_redirect_uri: BACK }),
    );
    expect(await textOf(without)).toContain('You are signed out');
    const back = await stranger.get(
      logoutUrl({ id_token_hint: idToken, post_logout_redirect_uri: BACK }),
    );
    expect(back.headers.get('location')).toBe(BACK);
  });

  // @shows AS-51.4, AS-51.5
  test('of a client that anyone can register, unless the person has used it', async () => {
    const registered = await fetch(`${portal.url}/oauth/register`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        redirect_uris: ['https://client.example/callback'],
        token_endpoint_auth_method: 'none',
        post_logout_redirect_uris: ['https://evil.example/'],
      }),
    });
    const metadata = (await registered.json()) as Readonly<Record<string, unknown>>;
    expect(metadata['post_logout_redirect_uris']).toEqual(['https://evil.example/']);
    const id = String(metadata['client_id']);
    const asked = { client_id: id, post_logout_redirect_uri: 'https://evil.example/' };
    const page = await ada.get(logoutUrl(asked));
    expect(await textOf(page)).not.toContain('asks you to sign out');
    expect((await answer(page, 'logout')).headers.get('location')).toBeNull();

    const [grace, later] = [await portal.signedIn(GRACE), await portal.signedIn(GRACE)];
    const code = await obtainCode(portal, { id, secret: '' }, grace, { scope: 'openid' });
    const tokens = await fetch(`${portal.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: id,
        code,
        redirect_uri: 'https://client.example/callback',
        code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
      }),
    });
    const { id_token: hint } = (await tokens.json()) as Tokens;
    const url = logoutUrl({ ...asked, id_token_hint: hint });
    const stranger = await createVisitor(portal.url).get(url);
    expect(stranger.headers.get('location')).toBeNull();
    expect((await grace.get(url)).headers.get('location')).toBe('https://evil.example/');
    // The client has no refresh token, so its access has expired.
    [ahead, hostAhead] = [3_601_000, 3_601_000];
    const left = await answer(await later.get(url), 'logout', later);
    expect([left.status, left.headers.get('location')]).toEqual([200, null]);
  });
});

describe('the post-logout redirect URIs of a client', () => {
  const console = (...args: readonly string[]) =>
    porticoHere(args, {
      cwd: path.join(ROOT, 'test', 'fixtures', 'configured-portal'),
      env: { ...portal.env, PUBLIC_URL: portal.url, PORTAL_CONFIG: JSON.stringify(CONFIG) },
    });

  // @shows AS-51.5
  test('can be registered, shown, replaced and removed by an operator', async () => {
    const created = await console(
      'oauth:client:create',
      'Calendar',
      '--redirect=https://calendar.example/callback',
      '--scope=openid',
      `--post-logout-redirect=${BACK}`,
      '--json',
    );
    const { client_id: id, post_logout_redirect_uris: uris } = JSON.parse(created.stdout) as {
      readonly client_id: string;
      readonly post_logout_redirect_uris: readonly string[];
    };
    expect(uris).toEqual([BACK]);
    expect((await console('oauth:client:show', id)).stdout).toContain(BACK);
    const next = 'https://calendar.example/bye';
    const updated = await console('oauth:client:update', id, `--post-logout-redirect=${next}`);
    expect(updated.stdout).toContain(`post_logout_redirect_uris: "${BACK}" → "${next}"`);
    expect((await portal.server.clients.show(id)).metadata).toEqual({
      post_logout_redirect_uris: [next],
    });
    await console('oauth:client:update', id, '--post-logout-redirect=');
    expect((await portal.server.clients.show(id)).metadata).toEqual({});
  });

  // @shows AS-51.5
  test.each(
    waysOf([
      'http://client.example/',
      'https://*.example/',
      'javascript:alert(1)',
      'https://a.example/#b',
    ]),
  )('follow the rules of redirect URIs: %s', async (uri) => {
    await expect(
      registerClient(portal, { metadata: { post_logout_redirect_uris: [uri] } }),
    ).rejects.toThrow('The post-logout redirect URI');
  });
});

// @shows AS-51.5
test('the post-logout redirect URIs of a client are stored in one transaction with the client', async () => {
  const { database } = portal.application;
  const post_logout_redirect_uris = [BACK];
  const sent = {
    redirect_uris: ['https://client.example/callback'],
    token_endpoint_auth_method: 'none',
    post_logout_redirect_uris,
  };
  const register = (method: string, url: string, headers = {}, metadata: object = sent) =>
    fetch(url, {
      method,
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(metadata),
    });
  const registered = (await (
    await register('POST', `${portal.url}/oauth/register`)
  ).json()) as Readonly<Record<string, string>>;
  const before = await portal.server.clients.list();
  await database.execute('ALTER TABLE oauth_client_metadata RENAME TO away');
  // The table can be read, but not written.
  await database.execute(
    'CREATE VIEW oauth_client_metadata AS SELECT DISTINCT client_id, metadata FROM away',
  );
  try {
    await expect(
      registerClient(portal, { metadata: { post_logout_redirect_uris } }),
    ).rejects.toThrow(/view|modify|insert|update/i);
    await expect(
      portal.server.clients.update(client.id, {
        name: 'New',
        metadata: { post_logout_redirect_uris: [] },
      }),
    ).rejects.toThrow(/view|modify|insert|update/i);
    expect((await register('POST', `${portal.url}/oauth/register`)).status).toBe(500);
    const authorized = { Authorization: `Bearer ${registered['registration_access_token']}` };
    const replaced = { ...sent, client_id: registered['client_id'], client_name: 'New' };
    const changed = await register(
      'PUT',
      registered['registration_client_uri'] ?? '',
      authorized,
      replaced,
    );
    expect(changed.status).toBe(500);
    expect(await portal.server.clients.list()).toEqual(before);
  } finally {
    await database.execute('DROP VIEW oauth_client_metadata');
    await database.execute('ALTER TABLE away RENAME TO oauth_client_metadata');
  }
});

// @shows AS-51.6
test('with logout off there is no endpoint, metadata member or client field for it', async () => {
  const plain = await startPortal();
  try {
    expect((await fetch(`${plain.url}/oauth/logout`)).status).toBe(404);
    const metadata = await fetch(`${plain.url}/.well-known/openid-configuration`);
    expect(await metadata.text()).not.toContain('end_session_endpoint');
    await expect(
      registerClient(plain, { metadata: { post_logout_redirect_uris: [BACK] } }),
    ).rejects.toThrow('This server does not support the field post_logout_redirect_uris');
  } finally {
    await plain.close();
  }
});

function kidOf(token: string): string {
  const [header = ''] = token.split('.');
  return (JSON.parse(Buffer.from(header, 'base64url').toString()) as { readonly kid: string }).kid;
}

// @shows AS-19.1
test('the audit log has who was signed out for which client, and whether the person confirmed', async () => {
  const events: AuditEvent[] = [];
  portal.application.events.on(AUDIT, (event: AuditEvent) => {
    if (event.type === 'signed_out') events.push(event);
  });
  const person = (await portal.application.accounts.authenticate(ADA, PASSWORD))?.reference;
  const page = await ada.get(logoutUrl({ client_id: client.id }));
  await answer(page, 'stay');
  expect(events).toEqual([]);
  await answer(page, 'logout');
  const again = await portal.signedIn(ADA);
  await again.get(logoutUrl({ id_token_hint: await idTokenOf(client, again) }));
  const about = { type: 'signed_out', clientId: client.id, person };
  expect(events).toEqual([
    { ...about, confirmed: true },
    { ...about, confirmed: false },
  ]);
});

describe('logout on a host with its own sign-out page', () => {
  /** The person who is signed in at the host. */
  let signedIn: { readonly provider: string; readonly id: string } | null = null;
  beforeEach(() => {
    signedIn = null;
  });
  const ask = async (server: AuthorizationServer, url: string, form?: URLSearchParams) => {
    const method = form === undefined ? 'GET' : 'POST';
    const { pathname } = new URL(url);
    const endpoint = server.endpoints.find(
      (each) => each.path === pathname && each.methods.some((one) => one === method),
    );
    const request = new Request(url, form === undefined ? {} : { method, body: form });
    return (endpoint as Endpoint).handle(request);
  };

  const targetOf = (response: Response) =>
    new URL(response.headers.get('location') ?? 'about:blank', portal.url);

  function serverWith(host: Partial<Host>): AuthorizationServer {
    return createAuthorizationServer({
      publicUrl: portal.url,
      config: oauthServerConfiguration.parse({
        ...portal.server.config,
        audience: undefined,
        logout: true,
      }),
      database: portal.application.database,
      host: {
        signedIn: async () => signedIn,
        loadAccount: (person) => portal.application.accounts.find(person),
        holdsPermission: async () => true,
        browserSecret: async () => 'a'.repeat(43),
        loginUrl: '/login',
        log: { debug() {}, info() {}, warning() {}, error() {} },
        ...host,
      },
    });
  }

  // @shows AS-51.1
  test('redirects to that page, which then redirects to the application', async () => {
    const server = serverWith({ signOut: '/bye' });
    const user = await portal.application.accounts.authenticate(ADA, PASSWORD);
    signedIn = user?.reference ?? null;
    const asked = { id_token_hint: idToken, post_logout_redirect_uri: BACK, state: 'x' };
    const away = targetOf(await ask(server, logoutUrl(asked)));
    expect(away.pathname).toBe('/bye');
    const returnTo = new URL(away.searchParams.get('return_to') ?? '', portal.url);
    expect(returnTo.pathname).toBe('/oauth/logout');
    // If nothing was signed out, the page does not redirect.
    const again = await ask(server, returnTo.href);
    expect([again.status, again.headers.get('location')]).toEqual([200, null]);
    signedIn = null;
    expect(targetOf(await ask(server, returnTo.href)).href).toBe(`${BACK}?state=x`);
    const changed = returnTo.href.slice(0, -2);
    expect((await ask(server, changed)).status).toBe(400);
  });

  // @shows AS-51.6
  test('prevents the start if the host has no signOut', () => {
    expect(() => serverWith({})).toThrow('needs signOut in the host contract');
  });
});
