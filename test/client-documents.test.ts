import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startDocumentHost, type DocumentHost } from './support/document-host.ts';
import { KNOWN_DOCUMENTS } from './support/known-documents.ts';
import { createClock } from './support/clock.ts';
import {
  ADA,
  authorizationUrl,
  callApi,
  errorOf,
  GRACE,
  introspect,
  obtainCode,
  REDIRECT_URI,
  requestToken,
  signIn,
  startPortal,
  VERIFIER,
  type RunningPortal,
  type Tokens,
} from './support/portal.ts';
import { locationOf, type Visitor } from './support/visitor.ts';

/** A document that describes a client as this server accepts it. */
const DOCUMENT = {
  client_name: 'Assistant',
  redirect_uris: [REDIRECT_URI],
  grant_types: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_method: 'none',
};

/**
 * The content of an `OAuthClientInformationFull` of the Python package `mcp`, as
 * `model_dump_json()` writes it. `publish` adds the `client_id`.
 */
const WRITTEN_BY_PYDANTIC = `{"token_endpoint_auth_method":"none",
  "grant_types":["authorization_code","refresh_token"],"response_types":["code"],"scope":null,
  "client_name":"N","client_uri":null,"logo_uri":null,"contacts":null,"tos_uri":null,
  "policy_uri":null,"jwks_uri":null,"jwks":null,"software_id":null,"software_version":null,
  "client_secret":null,"client_id_issued_at":null,"client_secret_expires_at":null}`;

let host: DocumentHost;
let portal: RunningPortal;
let ada: Visitor;
/** A server with a service scope, and Ada there. */
let offering: RunningPortal;
let adaThere: Visitor;
const clock = createClock();
/** Servers with another configuration, on the portal's database. */
const others: RunningPortal[] = [];

beforeAll(async () => {
  host = await startDocumentHost();
  portal = await startPortal({
    clock: clock.now,
    outbound: host.outbound,
    config: { oauth_server: { client_id_metadata_documents: true } },
  });
  ada = await portal.signedIn(ADA);
  offering = await elsewhere(true, {
    'mcp:service': { label: 'Discover', permission: 'notes:read' },
  });
  adaThere = await offering.signedIn(ADA);
});
// Time passes, because the limits of a minute must not apply to the next test.
afterEach(() => clock.advance(61));
afterAll(async () => {
  for (const other of others) await other.close();
  await portal.close();
  await host.close();
});

let numbers = 0;
const newPath = () => `/oauth/client-${(numbers += 1)}.json`;
const pathOf = (url: string) => new URL(url).pathname;
const publish = (changes: object = {}, headers: Readonly<Record<string, string>> = {}) =>
  host.publish(newPath(), { ...DOCUMENT, ...changes }, headers);
const change = (url: string, changes: object) =>
  void host.publish(pathOf(url), { ...DOCUMENT, ...changes });
const asked = (url: string) => host.asked.filter((path) => path === pathOf(url)).length;
const requestOf = (
  url: string,
  changes: Readonly<Record<string, string | undefined>> = {},
  at = portal,
) => authorizationUrl(at, { id: url, secret: '' }, changes);
const codeFor = (
  url: string,
  visitor = ada,
  changes: Readonly<Record<string, string | undefined>> = {},
) => obtainCode(portal, { id: url, secret: '' }, visitor, changes);

function exchange(
  url: string,
  code: string,
  changes: Readonly<Record<string, string>> = {},
  at = portal,
) {
  return requestToken(at, null, {
    client_id: url,
    grant_type: 'authorization_code',
    code,
    redirect_uri: REDIRECT_URI,
    code_verifier: VERIFIER,
    ...changes,
  });
}

function refreshWith(url: string, { refresh_token }: Tokens, at = portal) {
  return requestToken(at, null, { client_id: url, grant_type: 'refresh_token', refresh_token });
}

async function tokensFor(url: string): Promise<Tokens> {
  const response = await exchange(url, await codeFor(url));
  expect(response.status).toBe(200);
  return (await response.json()) as Tokens;
}

async function isKept(url: string): Promise<boolean> {
  return (await portal.server.clients.find(url)) !== null;
}

/** Expects a page without a link, and returns the reason from the log. */
async function expectRefused(response: Response, at = portal): Promise<string> {
  expect([response.status, response.headers.get('location')]).toEqual([400, null]);
  expect(await response.clone().text()).toContain('Unknown application');
  const log = await readFile(`${at.env['STORAGE_DIR'] ?? ''}/app.log`, 'utf8');
  const id = response.headers.get('x-request-id') ?? '';
  return log.split('\n').find((line) => line.includes(id)) ?? '';
}

/** A server on the same database, with this option, and these scopes besides the portal's. */
async function elsewhere(documents: unknown, scopes: object = {}): Promise<RunningPortal> {
  const other = await startPortal({
    clock: clock.now,
    outbound: host.outbound,
    databaseUrl: portal.env['DATABASE_URL'] ?? '',
    config: {
      oauth_server: {
        scopes,
        ...(documents === undefined ? {} : { client_id_metadata_documents: documents }),
      },
    },
  });
  others.push(other);
  return other;
}

describe('a client whose id is the URL of its metadata document', () => {
  // @shows AS-21.1
  test('is authorized and gets and refreshes tokens without registration', async () => {
    const url = publish();
    const tokens = await tokensFor(url);
    expect((await callApi(portal, '/api/notes', tokens.access_token)).status).toBe(200);
    expect((await refreshWith(url, tokens)).status).toBe(200);
    expect(await portal.server.clients.find(url)).toMatchObject({
      name: 'Assistant',
      registeredBy: 'document',
      applicationType: 'web',
      public: true,
      secretHash: null,
      redirectUris: [REDIRECT_URI],
      grants: ['authorization_code', 'refresh_token'],
    });
    expect(asked(url)).toBe(1);
  });

  // @shows AS-21.2
  test('is fetched only after sign-in: the request waits until then', async () => {
    const url = publish();
    const visitor = portal.visitor();
    const page = await visitor.visit(requestOf(url));
    expect(new URL(page.url).pathname).toBe('/login');
    expect([asked(url), await isKept(url)]).toEqual([0, false]);
    const consent = await visitor.visit(locationOf(await signIn(visitor, page, ADA)).href);
    expect(await consent.clone().text()).toContain('Assistant');
    expect([asked(url), await isKept(url)]).toEqual([1, true]);
  });

  test.each<[string, Readonly<Record<string, string | undefined>>]>([
    ['an unregistered redirect_uri', { redirect_uri: 'https://other.example/' }],
    ['no response_type', { response_type: undefined }],
    ['an unknown scope', { scope: 'root' }],
    ['no PKCE', { code_challenge: undefined }],
  ])('with %s in the request: leads to sign-in first and shows no error', async (_, changes) => {
    const url = publish();
    const response = await portal.visitor().get(requestOf(url, changes));
    expect(locationOf(response).pathname).toBe('/login');
    expect(asked(url)).toBe(0);
  });

  test('is not fetched for a cross-site form post: the request is first redirected to GET', async () => {
    const url = publish();
    const form = Object.fromEntries(new URL(requestOf(url)).searchParams);
    const response = await portal.visitor().post('/oauth/authorize', form);
    expect(response.status).toBe(303);
    expect(locationOf(response).pathname).toBe('/oauth/authorize');
    expect(asked(url)).toBe(0);
  });

  // @shows AS-21.2
  test('is fetched only by the authorization endpoint', async () => {
    const url = publish();
    const fields = {
      client_id: url,
      token: 'a-token',
      grant_type: 'refresh_token',
      refresh_token: 'a-token',
    };
    for (const path of ['/oauth/token', '/oauth/revoke', '/oauth/introspect']) {
      const response = await fetch(portal.url + path, {
        method: 'POST',
        body: new URLSearchParams(fields),
      });
      expect([path, response.status, await errorOf(response)]).toEqual([
        path,
        401,
        'invalid_client',
      ]);
    }
    expect([asked(url), await isKept(url)]).toEqual([0, false]);
  });

  test('has no secret, and a request that sends one is refused', async () => {
    const url = publish();
    const code = await codeFor(url);
    expect(await errorOf(await exchange(url, code, { client_secret: 'a-secret' }))).toBe(
      'invalid_client',
    );
  });

  test('cannot use client credentials, even if its document lists that grant', async () => {
    const url = publish({
      grant_types: ['authorization_code', 'client_credentials', 'introspection'],
    });
    const { access_token: accessToken, ...tokens } = await tokensFor(url);
    expect(Object.keys(tokens)).not.toContain('refresh_token');
    const own = await requestToken(portal, null, {
      client_id: url,
      grant_type: 'client_credentials',
    });
    expect(await errorOf(own)).toBe('unauthorized_client');
    const body = new URLSearchParams({ client_id: url, token: accessToken });
    const response = await fetch(`${portal.url}/oauth/introspect`, { method: 'POST', body });
    expect(await errorOf(response)).toBe('unauthorized_client');
  });

  // @shows AS-21.4
  test('can request only what its document lists', async () => {
    const url = publish({ scope: 'openid notes:read' });
    const response = await ada.get(requestOf(url, { scope: 'notes:write' }));
    expect(await response.text()).toContain('invalid_scope');
    const tokens = await exchange(
      url,
      await codeFor(url, ada, { scope: 'openid notes:read notes:write' }),
    );
    expect(await tokens.json()).toMatchObject({ scope: 'openid notes:read' });
  });

  // @shows AS-21.4
  test.each([
    ['names no scope', {}, ['openid', 'profile', 'email', 'notes:read', 'notes:write']],
    ['names one of services', { scope: 'notes:read mcp:service' }, ['notes:read']],
  ])('cannot request service scopes: its document %s', async (_, changes, scopes) => {
    const url = publish(changes);
    await adaThere.get(requestOf(url, { scope: 'notes:read' }, offering));
    expect(await offering.server.clients.find(url)).toMatchObject({ scopes });
    const refused = await adaThere.get(requestOf(url, { scope: 'mcp:service' }, offering));
    expect(await refused.text()).toContain('invalid_scope');
  });

  test('is refused if its document lists only service scopes', async () => {
    const reason = await expectRefused(
      await adaThere.get(requestOf(publish({ scope: 'mcp:service' }), {}, offering)),
      offering,
    );
    expect(reason).toContain('this server offers none of its scopes');
  });

  // @shows AS-21.4
  test.each(KNOWN_DOCUMENTS)(
    'accepts the documents that real hosts publish: $host',
    async ({ document, path, asks, refreshes }) => {
      const url = host.publish(path, document);
      for (const redirectUri of asks) {
        const code = await codeFor(url, ada, { redirect_uri: redirectUri });
        const response = await exchange(url, code, { redirect_uri: redirectUri });
        expect(response.status).toBe(200);
        expect(Object.hasOwn((await response.json()) as Tokens, 'refresh_token')).toBe(refreshes);
        clock.advance(61);
      }
    },
  );

  // @shows AS-21.12
  test('is accepted if the MCP SDK for Python wrote it, with null for each missing member', async () => {
    const url = publish(JSON.parse(WRITTEN_BY_PYDANTIC) as object);
    const code = await codeFor(url, ada);
    expect((await exchange(url, code)).status).toBe(200);
  });
});

describe('an invalid client metadata document', () => {
  // @shows AS-21.3, AS-21.6
  test.each<[says: string, changes: object, headers?: Readonly<Record<string, string>>]>([
    ['client_id is not the URL', { client_id: 'https://client.example/other.json' }],
    ['client_name', { client_name: '' }],
    ['redirect_uris', { redirect_uris: [] }],
    ['client_secret', { client_secret: 'a-secret' }],
    ['client_secret_basic', { token_endpoint_auth_method: 'client_secret_basic' }],
    [
      'private_key_jwt',
      { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: 'https://client.example/keys' },
    ],
    ['longer than 5120 bytes', { padding: 'a'.repeat(5120) }],
    ['not application/json', {}, { 'Content-Type': 'text/html' }],
  ])(
    'is refused on a page without a redirect, and nothing is stored: %s',
    async (says, changes, headers) => {
      const url = publish(changes, headers);
      expect(await expectRefused(await ada.get(requestOf(url)))).toContain(says);
      expect(await isKept(url)).toBe(false);
    },
  );

  test('is refused the same way if it cannot be fetched, and the page reveals nothing about the host', async () => {
    const missing = host.url(newPath());
    const redirecting = host.answer(newPath(), (_, response) => {
      response.writeHead(302, { Location: 'http://169.254.169.254/latest/meta-data/' }).end();
    });
    for (const url of [missing, redirecting])
      expect(await expectRefused(await ada.get(requestOf(url)))).toContain('not 200');
  });

  // @shows AS-21.7
  test('is fetched again immediately, because failures are not cached', async () => {
    const url = publish({ client_name: '' });
    await expectRefused(await ada.get(requestOf(url)));
    change(url, {});
    expect((await ada.get(requestOf(url))).status).toBe(200);
  });

  // @shows AS-21.6
  test('can be requested only a limited number of times by one person', async () => {
    const refused: number[] = [];
    for (let number = 1; number <= 11; number += 1) {
      refused.push(
        (await ada.get(requestOf(host.url(newPath(), `h${number}.client.example`)))).status,
      );
    }
    expect(refused).toEqual([...Array.from({ length: 10 }, () => 400), 503]);
    const grace = await portal.signedIn(GRACE);
    expect((await grace.get(requestOf(publish()))).status).toBe(200);
  });

  // @shows AS-21.6
  test('does not block other documents of its host, or known documents for the same person', async () => {
    const known = publish({}, { 'Cache-Control': 'max-age=300' });
    await codeFor(known);
    clock.advance(301);
    const statuses: number[] = [];
    for (let number = 1; number <= 6; number += 1) {
      statuses.push((await ada.get(requestOf(host.url(newPath())))).status);
    }
    expect(statuses).toEqual([400, 400, 400, 400, 400, 503]);
    expect((await ada.get(requestOf(known))).status).toBe(200);
    expect(asked(known)).toBe(2);
    const grace = await portal.signedIn(GRACE);
    expect((await grace.get(requestOf(publish()))).status).toBe(200);
  });

  // @shows AS-21.1
  test.each([
    'https://client.example',
    'https://client.example/a/../client.json',
    'https://client.example/client.json#fragment',
    'https://ada@client.example/client.json',
    'https://2130706433/client.json',
    'https://0x7f.1/client.json',
    'https://[::ffff:127.0.0.1]/client.json',
    'https://client.example./client.json',
  ])('is refused without any connection if its URL is not allowed: %s', async (url) => {
    const connections = host.connections();
    for (const visitor of [ada, portal.visitor()]) {
      expect(await expectRefused(await visitor.get(requestOf(url)))).toContain('cannot be used');
    }
    expect(host.connections()).toBe(connections);
  });
});

describe('a cached client metadata document', () => {
  // @shows AS-21.7
  test('is cached by every process exactly as long as its headers allow', async () => {
    const url = publish({}, { 'Cache-Control': 'max-age=600' });
    const other = await elsewhere(true);
    const there = await other.signedIn(ADA);
    for (const [visitor, at] of [
      [ada, portal],
      [there, other],
      [ada, portal],
    ] as const) {
      expect((await visitor.get(requestOf(url, {}, at))).status).toBe(200);
    }
    expect(asked(url)).toBe(1);
    clock.advance(601);
    change(url, { client_name: 'Renamed' });
    expect((await there.get(requestOf(url, {}, other))).status).toBe(200);
    expect((await ada.get(requestOf(url))).status).toBe(200);
    expect(asked(url)).toBe(2);
    expect(await portal.server.clients.find(url)).toMatchObject({ name: 'Renamed' });
  });

  // @shows AS-21.7
  test('creates no row before a person sees it, and is still not fetched twice', async () => {
    const url = publish();
    const wrong = { redirect_uri: 'https://other.example/' };
    for (let times = 1; times <= 3; times += 1) {
      expect((await ada.get(requestOf(url, wrong))).status).toBe(400);
    }
    expect([asked(url), await isKept(url)]).toEqual([1, false]);
    expect((await ada.get(requestOf(url))).status).toBe(200);
    expect([asked(url), await isKept(url)]).toEqual([1, true]);
  });

  test('is fetched once for simultaneous requests', async () => {
    let answer = () => {};
    const url = host.answer(newPath(), (request, response) => {
      answer = () => {
        const body = JSON.stringify({
          ...DOCUMENT,
          client_id: `https://${request.headers.host ?? ''}${request.url ?? ''}`,
        });
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
      };
      reachedHost();
    });
    let reachedHost = () => {};
    const reached = new Promise<void>((resolve) => (reachedHost = resolve));
    const first = ada.get(requestOf(url));
    await reached;
    const rest = Array.from({ length: 5 }, () => ada.get(requestOf(url)));
    answer();
    expect((await Promise.all([first, ...rest])).map(({ status }) => status)).toEqual([
      200, 200, 200, 200, 200, 200,
    ]);
    expect(asked(url)).toBe(1);
  });

  // @shows AS-21.8
  test('can change without effect on a request that was already shown', async () => {
    const url = publish({}, { 'Cache-Control': 'max-age=300' });
    const consent = await ada.visit(requestOf(url));
    const shown = await consent.clone().text();
    change(url, {
      client_name: 'Somebody else',
      redirect_uris: ['https://evil.example/'],
      grant_types: ['authorization_code', 'refresh_token'],
    });
    clock.advance(301);
    // Show the new document to another person, so that it is stored.
    const grace = await portal.signedIn(GRACE);
    const now = await grace.visit(requestOf(url, { redirect_uri: 'https://evil.example/' }));
    expect(await now.text()).toContain('evil.example');
    expect(await portal.server.clients.find(url)).toMatchObject({
      redirectUris: ['https://evil.example/'],
    });
    // The page is opened again, and the person answers it.
    const again = await (await ada.get(`/oauth/authorize?request_id=${idIn(shown)}`)).text();
    expect([again.includes('Assistant'), again.includes('Somebody else')]).toEqual([true, false]);
    const answer = locationOf(await ada.submit(consent, { decision: 'allow' }));
    expect(answer.href.startsWith(`${REDIRECT_URI}?code=`)).toBe(true);
    const response = await exchange(url, answer.searchParams.get('code') ?? '');
    expect(response.status).toBe(200);
  });

  // @shows AS-21.8
  test('can change between authorization and exchange without effect on the exchange', async () => {
    const url = publish({}, { 'Cache-Control': 'max-age=300' });
    const [first, second] = [await ada.visit(requestOf(url)), await ada.visit(requestOf(url))];
    change(url, { redirect_uris: ['https://evil.example/'] });
    clock.advance(301);
    const codeOf = async (page: Response) =>
      locationOf(await ada.submit(page, { decision: 'allow' })).searchParams.get('code') ?? '';
    const [code, stolen] = [await codeOf(first), await codeOf(second)];
    const grace = await portal.signedIn(GRACE);
    await grace.visit(requestOf(url, { redirect_uri: 'https://evil.example/' }));
    expect(
      await errorOf(await exchange(url, stolen, { redirect_uri: 'https://evil.example/' })),
    ).toBe('invalid_grant');
    expect((await exchange(url, code)).status).toBe(200);
    const refused = await ada.get(requestOf(url));
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('Unregistered return address');
  });

  test('ends open requests and granted access when an operator blocks its URL', async () => {
    const url = publish();
    const tokens = await tokensFor(url);
    const code = await codeFor(url);
    const consent = await ada.visit(requestOf(url));
    await portal.server.clients.revoke(url);
    expect((await ada.submit(consent, { decision: 'allow' })).status).toBe(400);
    expect(await errorOf(await exchange(url, code))).toBe('invalid_client');
    expect(await errorOf(await refreshWith(url, tokens))).toBe('invalid_client');
    expect((await callApi(portal, '/api/notes', tokens.access_token)).status).toBe(401);
    await expectRefused(await ada.get(requestOf(url)));
    expect(asked(url)).toBe(1);
    // Neither a newer document nor time brings it back.
    clock.advance(86_401);
    await expectRefused(await ada.get(requestOf(url)));
    expect(asked(url)).toBe(1);
  });
});

describe('an unused client metadata document', () => {
  // @shows AS-21.11
  test('is removed a day after it expires; granted access and blocked documents stay', async () => {
    const headers = { 'Cache-Control': 'max-age=86400' };
    const [shown, denied, allowed, blocked] = [0, 1, 2, 3].map(() => publish({}, headers)) as [
      string,
      string,
      string,
      string,
    ];
    await ada.visit(requestOf(shown));
    await ada.submit(await ada.visit(requestOf(denied)), { decision: 'deny' });
    const tokens = await tokensFor(allowed);
    await ada.visit(requestOf(blocked));
    await portal.server.clients.revoke(blocked);
    const kept = async () => {
      await portal.server.prune();
      const found: boolean[] = [];
      for (const url of [shown, denied, allowed, blocked]) found.push(await isKept(url));
      return found;
    };
    // The document is fresh for a day, and its client may be allowed until then; a row stays an
    // hour longer than needed.
    clock.advance(2 * 86_400);
    expect(await kept()).toEqual([true, true, true, true]);
    clock.advance(3700);
    expect(await kept()).toEqual([false, false, true, true]);
    expect((await refreshWith(allowed, tokens)).status).toBe(200);
    await expectRefused(await ada.get(requestOf(blocked)));
    // A person who returns sees the question again.
    expect((await ada.get(requestOf(shown))).status).toBe(200);
  });
});

/** The id of the request that a consent screen is about. */
function idIn(page: string): string {
  return /name="request_id" value="([^"]+)"/.exec(page)?.[1] ?? '';
}

describe('after documents are switched off, every endpoint refuses them', () => {
  // @shows AS-2.20, AS-21.9
  test.each([
    ['the switch is off', undefined],
    ['the switch is false', false],
    ['the host is denied', { denied_hosts: ['client.example'] }],
    ['the host is not allowed', { allowed_hosts: ['other.example'] }],
  ])('%s', async (_, documents) => {
    const url = publish();
    const tokens = await tokensFor(url);
    const code = await codeFor(url);
    const consent = await ada.visit(requestOf(url));
    const requests = asked(url);

    const other = await elsewhere(documents);
    const there = await other.signedIn(ADA);
    await expectRefused(await there.get(requestOf(url, {}, other)), other);
    await expectRefused(await other.visitor().get(requestOf(url, {}, other)), other);
    expect(await errorOf(await exchange(url, code, {}, other))).toBe('invalid_client');
    expect(await errorOf(await refreshWith(url, tokens, other))).toBe('invalid_client');
    expect((await callApi(other, '/api/notes', tokens.access_token)).status).toBe(401);
    const userinfo = await fetch(`${other.url}/oauth/userinfo`, {
      headers: { Authorization: `Bearer ${tokens.access_token}` },
    });
    expect(userinfo.status).toBe(401);
    expect(await introspect(other, tokens.access_token)).toEqual({ active: false });
    // People can still end the access that they have granted.
    expect(await (await there.get('/oauth/applications')).text()).toContain('client.example');
    // The page that was shown before cannot be sent here, because its session belongs to another
    // server. So the test sends the request itself.
    expect(asked(url)).toBe(requests);

    // Nothing was changed: where documents are accepted, everything continues.
    expect((await ada.submit(consent, { decision: 'allow' })).status).toBe(303);
    expect((await exchange(url, code)).status).toBe(200);
    expect((await refreshWith(url, tokens)).status).toBe(200);
    expect((await callApi(portal, '/api/notes', tokens.access_token)).status).toBe(200);
  });
});

describe('access granted to a client with a metadata document', () => {
  // @shows AS-21.9, HOST-2.5
  test.each([
    ['the switch is off', undefined],
    ['the host is denied', { denied_hosts: ['client.example'] }],
  ])('can be revoked permanently, even if %s', async (_, documents) => {
    const url = publish();
    const tokens = await tokensFor(url);
    const other = await elsewhere(documents);
    const there = await other.signedIn(ADA);
    const page = await (await there.get('/oauth/applications')).text();
    const form = new RegExp(`name="client_id" value="${url}">\\s*<input[^>]*value="([^"]*)"`).exec(
      page,
    );
    const csrfToken = form?.[1] ?? '';
    const removed = await there.post('/oauth/applications', {
      client_id: url,
      csrf_token: csrfToken,
    });
    expect(locationOf(removed).searchParams.has('removed')).toBe(true);
    expect((await callApi(portal, '/api/notes', tokens.access_token)).status).toBe(401);
    expect(await errorOf(await refreshWith(url, tokens))).toBe('invalid_grant');
    expect(await (await there.get('/oauth/applications')).text()).not.toContain(`value="${url}"`);
  });
});

describe('the server metadata', () => {
  // @shows AS-21.10, AS-2.20
  test.each(['oauth-authorization-server', 'openid-configuration'])(
    '%s announces support for client metadata documents only if the setting is on',
    async (name) => {
      const read = async (at: RunningPortal) =>
        (await (await fetch(`${at.url}/.well-known/${name}`)).json()) as Readonly<
          Record<string, unknown>
        >;
      expect(await read(portal)).toMatchObject({
        client_id_metadata_document_supported: true,
        token_endpoint_auth_methods_supported: expect.arrayContaining(['none']),
      });
      const without = await elsewhere(undefined);
      expect(Object.keys(await read(without))).not.toContain(
        'client_id_metadata_document_supported',
      );
    },
  );
});

describe('the configuration of client metadata documents', () => {
  // @shows AS-2.16, AS-2.20
  test.each([
    ['yes', 'must be true, false or { allowed_hosts, denied_hosts }'],
    [{ allowed_hosts: 'client.example' }, 'must be a list of hosts'],
    [{ allowed_hosts: ['https://client.example/'] }, 'must be a hostname'],
    [{ hosts: [] }, 'hosts'],
  ])('refuses %j at the start', async (documents, says) => {
    await expect(elsewhere(documents)).rejects.toThrow(says);
  });
});
