import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { claimsOf, headerOf, newKey, signed, withAssertion } from './support/assertions.ts';
import { startDocumentHost, type DocumentHost } from './support/document-host.ts';
import { createClock } from './support/clock.ts';
import {
  ADA,
  authorizationUrl,
  errorOf,
  GRACE,
  obtainCode,
  REDIRECT_URI,
  registerClient,
  requestToken,
  startPortal,
  VERIFIER,
  type RunningPortal,
} from './support/portal.ts';
import { pushedUrl, requestUriOf } from './support/pushing.ts';
import { locationOf, type Visitor } from './support/visitor.ts';

/**
 * Pushed requests of unverified clients: documents, public clients, and self-registered clients
 * (RFC 9126).
 */

const DOCUMENT = {
  client_name: 'Assistant',
  redirect_uris: [REDIRECT_URI],
  grant_types: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_method: 'none',
};

const clock = createClock();
let host: DocumentHost;
let portal: RunningPortal;
let ada: Visitor;

beforeAll(async () => {
  host = await startDocumentHost();
  portal = await startPortal({
    clock: clock.now,
    outbound: host.outbound,
    config: {
      trusted_proxies: 1,
      oauth_server: {
        pushed_authorization_requests: 'accept',
        client_id_metadata_documents: true,
        private_key_jwt: true,
        registration: 'open',
      },
    },
  });
  ada = await portal.signedIn(ADA);
});
afterAll(async () => {
  await portal.close();
  await host.close();
});

let numbers = 0;
const newPath = () => `/oauth/client-${(numbers += 1)}.json`;
const publish = (changes: object = {}) => host.publish(newPath(), { ...DOCUMENT, ...changes });
const asked = (url: string) => host.asked.filter((path) => path === new URL(url).pathname).length;

/** Each request is from a new network, unless the test names one. */
function push(
  id: string,
  changes: Readonly<Record<string, string>> = {},
  from = `198.51.100.${(numbers += 1) % 250}`,
): Promise<Response> {
  const body = new URL(authorizationUrl(portal, { id, secret: '' }, changes)).searchParams;
  return fetch(`${portal.url}/oauth/par`, {
    method: 'POST',
    headers: { 'X-Forwarded-For': from },
    body,
  });
}

const isKept = async (url: string) => (await portal.server.clients.find(url)) !== null;

async function expectUnknown(response: Response): Promise<void> {
  expect([response.status, await errorOf(response)]).toEqual([401, 'invalid_client']);
}

async function codeOf(id: string, response: Response): Promise<string> {
  const page = await ada.visit(pushedUrl(portal, { id }, await requestUriOf(response)));
  expect(page.status).toBe(200);
  return locationOf(await ada.submit(page, { decision: 'allow' })).searchParams.get('code') ?? '';
}

describe('a client that is a metadata document', () => {
  // @shows AS-25.10
  test('is fetched once if it pushes, and stored only when its request is shown', async () => {
    const url = publish();
    const pushed = await push(url);
    expect(pushed.status).toBe(201);
    expect((await push(url)).status).toBe(201);
    expect([asked(url), await isKept(url)]).toEqual([1, false]);
    const code = await codeOf(url, pushed);
    expect([asked(url), await isKept(url)]).toEqual([1, true]);
    const tokens = await requestToken(portal, null, {
      client_id: url,
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT_URI,
      code_verifier: VERIFIER,
    });
    expect(tokens.status).toBe(200);
    clock.advance(61);
  });

  // @shows AS-25.10, AS-25.3
  test('authenticates with its keys, also the first time', async () => {
    const key = newKey('ES256');
    const url = publish({
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [key.jwk] },
    });
    const proof = (by = key) =>
      withAssertion(signed(by, headerOf(by), claimsOf(url, portal.server.issuer, clock.now())));
    await expectUnknown(await push(url));
    await expectUnknown(await push(url, proof(newKey('ES256', key.kid))));
    const assertion = proof();
    const pushed = await push(url, assertion);
    await expectUnknown(await push(url, assertion));
    const code = await codeOf(url, pushed);
    const tokens = await requestToken(portal, null, {
      ...proof(),
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT_URI,
      code_verifier: VERIFIER,
    });
    expect(tokens.status).toBe(200);
    // The client changes its keys without a request. They apply as soon as the cached document is
    // no longer fresh.
    const next = newKey('ES256');
    host.publish(new URL(url).pathname, {
      ...DOCUMENT,
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [next.jwk] },
    });
    clock.advance(86_400);
    expect((await push(url, proof(next))).status).toBe(201);
    clock.advance(61);
  });

  // @shows AS-25.10
  test.each([
    ['names another client', { client_id: 'https://client.example/other.json' }],
    ['has keys of the wrong type', { jwks: 'keys' }],
    ['contains a secret', { client_secret: 'everybody reads it' }],
  ])('cannot authenticate if its document later %s', async (_, changes) => {
    const key = newKey('ES256');
    const keyed = { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [key.jwk] } };
    const url = publish(keyed);
    const proof = () =>
      withAssertion(signed(key, headerOf(key), claimsOf(url, portal.server.issuer, clock.now())));
    await codeOf(url, await push(url, proof()));
    host.publish(new URL(url).pathname, { ...DOCUMENT, ...keyed, ...changes });
    clock.advance(86_400);
    const form = { grant_type: 'refresh_token', refresh_token: 'unknown' };
    const refresh = () => requestToken(portal, null, { ...proof(), ...form });
    expect(await errorOf(await refresh())).not.toBe('invalid_grant');
    await expectUnknown(await push(url, proof()));
    // The document is correct again.
    host.publish(new URL(url).pathname, { ...DOCUMENT, ...keyed });
    clock.advance(61);
    expect((await push(url, proof())).status).toBe(201);
    expect(await errorOf(await refresh())).toBe('invalid_grant');
    clock.advance(61);
  });

  // @shows AS-25.10, AS-25.4
  test('is unknown if its document is unusable, and the response reveals nothing of its contents', async () => {
    await expectUnknown(await push(host.url(newPath())));
    const internal = await push(publish({ client_secret: 'everybody reads it' }));
    expect(await internal.clone().text()).not.toContain('everybody');
    await expectUnknown(internal);
    await expectUnknown(await push('https://client.example/a/../client.json'));
    const other = await push(publish(), { redirect_uri: 'https://client.example/other' });
    expect([other.status, await errorOf(other)]).toEqual([400, 'invalid_request']);
    const blocked = publish();
    await portal.server.clients.revoke(blocked);
    await expectUnknown(await push(blocked));
    clock.advance(61);
  });

  // @shows AS-25.8
  test('is refused without a pushed request if its document requires one', async () => {
    const url = publish({ require_pushed_authorization_requests: true });
    const answer = await ada.get(authorizationUrl(portal, { id: url, secret: '' }));
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('Nothing was shared');
    expect((await push(url)).status).toBe(201);
    clock.advance(61);
  });

  // @shows AS-21.8
  test('keeps an open consent request if its document then requires pushed requests', async () => {
    const url = host.publish(newPath(), DOCUMENT, { 'Cache-Control': 'max-age=300' });
    const page = await ada.visit(
      authorizationUrl(portal, { id: url, secret: '' }, { scope: 'notes:read' }),
    );
    expect(page.status).toBe(200);
    host.publish(new URL(url).pathname, {
      ...DOCUMENT,
      require_pushed_authorization_requests: true,
    });
    clock.advance(301);
    const grace = await portal.signedIn(GRACE);
    const pushed = await requestUriOf(await push(url, { scope: 'notes:read' }));
    expect((await grace.visit(pushedUrl(portal, { id: url }, pushed))).status).toBe(200);
    expect((await portal.server.clients.find(url))?.pushesRequests).toBe(true);
    const answer = locationOf(await ada.submit(page, { decision: 'allow' }));
    expect(answer.searchParams.get('code')).not.toBeNull();
  });

  // @shows AS-25.10
  test('is fetched for strangers up to a limit per network, which does not affect signed-in people', async () => {
    const from = '203.0.113.7';
    const statuses: number[] = [];
    for (let count = 0; count < 6; count += 1)
      statuses.push((await push(publish(), {}, from)).status);
    expect(statuses).toEqual([201, 201, 201, 201, 201, 503]);
    const before = host.asked.length;
    const refused = await push(publish(), {}, from);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await errorOf(refused)).toBe('temporarily_unavailable');
    expect(host.asked).toHaveLength(before);
    // All networks together can cause twenty fetches from one host. Requests of people are counted
    // separately.
    const many: number[] = [];
    for (let count = 0; count < 20; count += 1) {
      many.push((await push(publish(), {}, `203.0.112.${count}`)).status);
    }
    expect(many.filter((status) => status === 201)).toHaveLength(15);
    expect(many.filter((status) => status === 503)).toHaveLength(5);
    expect(await obtainCode(portal, { id: publish(), secret: '' }, ada)).not.toBe('');
    clock.advance(61);
    expect((await push(publish(), {}, from)).status).toBe(201);
    clock.advance(61);
  });

  // @shows AS-21.2
  test('is not fetched for a request that only leads to the sign-in page', async () => {
    const url = publish();
    const login = await portal.visitor().visit(authorizationUrl(portal, { id: url, secret: '' }));
    expect(new URL(login.url).pathname).toBe('/login');
    expect(asked(url)).toBe(0);
  });
});

describe('pushed requests of unverified clients', () => {
  // @shows AS-25.11, RFC9126-2.3
  test('are limited per network, and one network does not use the limit of a different one', async () => {
    const app = await registerClient(portal, { public: true });
    const long = { state: 's'.repeat(60_000) };
    const statuses: number[] = [];
    for (let count = 0; count < 20; count += 1) {
      statuses.push((await push(app.id, long, '192.0.2.1')).status);
    }
    expect(statuses.filter((status) => status === 201)).toHaveLength(17);
    const refused = await push(app.id, long, '192.0.2.1');
    expect([refused.status, await errorOf(refused)]).toEqual([429, 'temporarily_unavailable']);
    expect(refused.headers.get('retry-after')).toBe('60');
    expect((await push(app.id, long, '192.0.2.2')).status).toBe(201);
    // A client that authenticates as an operator's client is not counted.
    const { id, secret } = await registerClient(portal);
    expect((await push(id, { ...long, client_secret: secret }, '192.0.2.1')).status).toBe(201);
    // Expired requests free their room immediately.
    clock.advance(60);
    expect((await push(app.id, long, '192.0.2.1')).status).toBe(201);
  });

  // @shows AS-25.8, AS-25.11
  test('work for self-registered clients too, which can require them', async () => {
    const register = (changes: object) =>
      fetch(`${portal.url}/oauth/register`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ redirect_uris: [REDIRECT_URI], ...changes }),
      });
    const refused = await register({ require_pushed_authorization_requests: 'yes' });
    expect(await errorOf(refused)).toBe('invalid_client_metadata');
    const plain = (await (await register({})).json()) as Record<string, unknown>;
    expect(plain).not.toHaveProperty('require_pushed_authorization_requests');
    const demanding = await register({ require_pushed_authorization_requests: true });
    const registered = (await demanding.json()) as Record<string, unknown>;
    expect(registered['require_pushed_authorization_requests']).toBe(true);
    const id = String(registered['client_id']);
    const page = await ada.get(
      authorizationUrl(portal, { id, secret: '' }, { scope: 'notes:read' }),
    );
    expect(await page.text()).toContain('Nothing was shared');
    expect(await codeOf(id, await push(id, { scope: 'notes:read' }))).not.toBe('');
  });
});
