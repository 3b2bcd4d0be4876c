import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { AUDIT } from 'portico';
import { createClock } from './support/clock.ts';
import {
  ADA,
  errorOf,
  exchangeCode,
  obtainCode,
  obtainTokens,
  REDIRECT_URI,
  refresh,
  requestToken,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';

/** Secrets of clients that register themselves without an initial access token. */

const HOUR = 3600;
const TTL = 90 * 24 * HOUR;
const CODE_GRANTS = ['authorization_code', 'refresh_token'];
const BASIC = { token_endpoint_auth_method: 'client_secret_basic' };

interface Registration {
  readonly client_id: string;
  readonly client_secret?: string;
  readonly client_secret_expires_at?: number;
  readonly registration_access_token: string;
  readonly [name: string]: unknown;
}

let portal: RunningPortal;
const clock = createClock();
const config = (ttl: number | string) => ({
  oauth_server: {
    registration: 'open',
    registration_secret_ttl: ttl,
    scopes: { 'mcp:service': { label: 'Discover', permission: 'notes:read' } },
  },
});

async function register(metadata: object = BASIC, on = portal): Promise<Registration> {
  const response = await fetch(`${on.url}/oauth/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ redirect_uris: [REDIRECT_URI], grant_types: CODE_GRANTS, ...metadata }),
  });
  expect(response.status).toBe(201);
  return (await response.json()) as Registration;
}

function manage(registration: Registration, changes?: object, on = portal): Promise<Response> {
  const { client_id, registration_access_token: token } = registration;
  const sent = {
    client_id,
    redirect_uris: [REDIRECT_URI],
    grant_types: CODE_GRANTS,
    ...BASIC,
    ...changes,
  };
  return fetch(`${on.url}/oauth/register?client_id=${client_id}`, {
    method: changes === undefined ? 'GET' : 'PUT',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: changes === undefined ? null : JSON.stringify(sent),
  });
}

async function managed(registration: Registration, changes?: object): Promise<Registration> {
  const response = await manage(registration, changes);
  expect(response.status).toBe(200);
  return (await response.json()) as Registration;
}

const withSecret = ({ client_id: id }: Registration, secret: string | undefined): TestClient => ({
  id,
  secret: secret ?? '',
});

/**
 * Whether the client can authenticate with this secret. In that case, the error is about the grant
 * and not about the client.
 */
async function isAccepted(
  registration: Registration,
  secret: string | undefined,
): Promise<boolean> {
  const response = await exchangeCode(portal, withSecret(registration, secret), 'x'.repeat(43));
  return (await errorOf(response)) !== 'invalid_client';
}

beforeAll(async () => {
  portal = await startPortal({ clock: clock.now, config: config(TTL) });
});
beforeEach(async () => {
  clock.advance(92 * 24 * HOUR);
  await portal.server.prune();
});
afterAll(() => portal.close());

// @shows AS-22.14
test.each([{}, BASIC, { token_endpoint_auth_method: 'client_secret_post' }])(
  'a client that requests a secret gets one that expires: %j',
  async (asked) => {
    const registered = await register(asked);
    expect(registered).toMatchObject({
      token_endpoint_auth_method: 'client_secret_basic',
      client_secret_expires_at: Math.floor(clock.now() / 1000) + TTL,
    });
    expect(registered.client_secret).toMatch(/^[\w-]{43}$/);
  },
);

// @shows AS-22.14
test('a client that requests no secret stays public, even after it updates its registration', async () => {
  const registered = await register({ token_endpoint_auth_method: 'none' });
  expect(registered).toMatchObject({ token_endpoint_auth_method: 'none' });
  expect(registered).not.toHaveProperty('client_secret');
  expect(registered).not.toHaveProperty('client_secret_expires_at');
  expect(await managed(registered, BASIC)).toMatchObject({ token_endpoint_auth_method: 'none' });
});

// @shows AS-22.14
test('a client with a secret can do nothing without it', async () => {
  const registered = await register();
  const client = withSecret(registered, registered.client_secret);
  const code = await obtainCode(portal, client, await portal.signedIn(ADA));
  for (const wrong of ['', 'x'.repeat(43)]) {
    const refused = await exchangeCode(portal, withSecret(registered, wrong), code);
    expect([refused.status, await errorOf(refused)]).toEqual([401, 'invalid_client']);
  }
  const named = { client_id: client.id, grant_type: 'authorization_code', code };
  expect(await errorOf(await requestToken(portal, null, named))).toBe('invalid_client');
  const exchanged = await exchangeCode(portal, client, code);
  expect(exchanged.status).toBe(200);
  const { refresh_token } = (await exchanged.json()) as { refresh_token: string };
  const bare = { client_id: client.id, grant_type: 'refresh_token', refresh_token };
  expect(await errorOf(await requestToken(portal, null, bare))).toBe('invalid_client');
  expect((await refresh(portal, client, refresh_token)).status).toBe(200);
});

// @shows AS-22.14
test('a client cannot remove its secret', async () => {
  const registered = await register();
  const response = await manage(registered, { token_endpoint_auth_method: 'none' });
  expect([response.status, await errorOf(response)]).toEqual([400, 'invalid_client_metadata']);
  expect(await isAccepted(registered, registered.client_secret)).toBe(true);
});

// @shows AS-22.14
test('a secret gives no rights that need an initial access token, even in an update', async () => {
  const greedy = {
    ...BASIC,
    grant_types: [...CODE_GRANTS, 'client_credentials', 'introspection'],
    scope: 'notes:read mcp:service',
  };
  const registered = await register(greedy);
  for (const told of [registered, await managed(registered, greedy)]) {
    expect(told).toMatchObject({ grant_types: CODE_GRANTS });
    expect(told['scope']).not.toContain('mcp:service');
  }
  const client = withSecret(registered, registered.client_secret);
  const issued = await requestToken(portal, client, { grant_type: 'client_credentials' });
  expect(await errorOf(issued)).toBe('unauthorized_client');
  const introspected = await fetch(`${portal.url}/oauth/introspect`, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`,
    },
    body: new URLSearchParams({ token: 'x' }),
  });
  expect(await errorOf(introspected)).toBe('unauthorized_client');
});

// @shows AS-22.14
test('a client that registered with an initial access token keeps its rights in an update', async () => {
  const { token } = await portal.server.initialAccessTokens.create({});
  const response = await fetch(`${portal.url}/oauth/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
    body: JSON.stringify({ grant_types: ['client_credentials'], scope: 'mcp:service' }),
  });
  const registered = (await response.json()) as Registration;
  expect(registered.client_secret_expires_at).toBe(Math.floor(clock.now() / 1000) + TTL);
  const service = { grant_types: ['client_credentials'], redirect_uris: [], scope: 'mcp:service' };
  expect(await managed(registered, service)).toMatchObject({ scope: 'mcp:service' });
});

// @shows AS-22.15
test('an expired secret is refused like a wrong one, and not before it expires', async () => {
  const registered = await register();
  const { client_secret: secret } = registered;
  await obtainTokens(portal, withSecret(registered, secret), ADA);
  clock.advance(TTL - 1);
  expect(await isAccepted(registered, secret)).toBe(true);
  clock.advance(1);
  const client = withSecret(registered, secret);
  const [expired, wrong] = [
    await exchangeCode(portal, client, 'x'.repeat(43)),
    await exchangeCode(portal, withSecret(registered, 'wrong'), 'x'.repeat(43)),
  ];
  expect(expired.status).toBe(401);
  expect(await expired.text()).toBe(await wrong.text());
});

// @shows AS-22.15
test('a client that reads its registration in the last third of the secret lifetime gets a new one', async () => {
  const registered = await register();
  const { client_secret: old } = registered;
  await obtainTokens(portal, withSecret(registered, old), ADA);
  clock.advance((TTL * 2) / 3 - 1);
  const early = await managed(registered);
  expect(early).not.toHaveProperty('client_secret');
  expect(early.client_secret_expires_at).toBe(registered.client_secret_expires_at);
  clock.advance(1);
  const renewed = await managed(registered);
  expect(renewed.client_secret).toMatch(/^[\w-]{43}$/);
  expect(renewed.client_secret_expires_at).toBe(Math.floor(clock.now() / 1000) + TTL);
  expect(await isAccepted(registered, renewed.client_secret)).toBe(true);
  expect(await managed(registered)).not.toHaveProperty('client_secret');
  clock.advance(TTL / 3 - 1);
  expect(await isAccepted(registered, old)).toBe(true);
  clock.advance(1);
  expect(await isAccepted(registered, old)).toBe(false);
  expect(await isAccepted(registered, renewed.client_secret)).toBe(true);
});

// @shows AS-22.15
test('a HEAD request, whose response has no body, uses up no new secret', async () => {
  const registered = await register();
  await obtainTokens(portal, withSecret(registered, registered.client_secret), ADA);
  clock.advance(TTL - HOUR);
  const { client_id, registration_access_token: token } = registered;
  const head = await fetch(`${portal.url}/oauth/register?client_id=${client_id}`, {
    method: 'HEAD',
    headers: { Authorization: `Bearer ${token}` },
  });
  expect(head.status).toBe(200);
  const renewed = await managed(registered);
  expect(await isAccepted(registered, renewed.client_secret)).toBe(true);
});

// @shows AS-22.15
test('a client whose secret has expired gets a new one, and the old one stays refused', async () => {
  const registered = await register();
  await obtainTokens(portal, withSecret(registered, registered.client_secret), ADA);
  clock.advance(TTL);
  const renewed = await managed(registered);
  expect(await isAccepted(registered, renewed.client_secret)).toBe(true);
  expect(await isAccepted(registered, registered.client_secret)).toBe(false);
  await portal.server.clients.rotateSecret(registered.client_id);
  clock.advance(1);
  expect(await isAccepted(registered, registered.client_secret)).toBe(false);
});

// @shows AS-22.15
test('an expired secret stays refused after an operator rotates it', async () => {
  const registered = await register();
  await obtainTokens(portal, withSecret(registered, registered.client_secret), ADA);
  clock.advance(TTL);
  const { secret } = await portal.server.clients.rotateSecret(registered.client_id);
  expect(await isAccepted(registered, registered.client_secret)).toBe(false);
  expect(await isAccepted(registered, secret)).toBe(true);
});

// @shows AS-22.15
test('an operator who rotates a secret is notified when it stops working', async () => {
  const { clients } = portal.server;
  const registered = await register();
  await obtainTokens(portal, withSecret(registered, registered.client_secret), ADA);
  clock.advance(TTL - HOUR);
  const { previousExpiresAt } = await clients.rotateSecret(registered.client_id);
  const until = Math.floor((previousExpiresAt ?? 0) / 1000);
  expect(until).toBe(registered.client_secret_expires_at);
  expect(await isAccepted(registered, registered.client_secret)).toBe(true);
  clock.advance(HOUR);
  expect(await isAccepted(registered, registered.client_secret)).toBe(false);
  const expired = await register();
  await obtainTokens(portal, withSecret(expired, expired.client_secret), ADA);
  clock.advance(TTL);
  const rotated = await clients.rotateSecret(expired.client_id);
  expect(rotated.previousExpiresAt).toBeNull();
});

// @shows AS-22.15
test('a client cannot undo the rotation of an operator by sending its previous secret', async () => {
  const registered = await register();
  const { client_secret: old } = registered;
  await obtainTokens(portal, withSecret(registered, old), ADA);
  const { secret } = await portal.server.clients.rotateSecret(registered.client_id);
  expect(await managed(registered, { client_secret: old })).not.toHaveProperty('client_secret');
  clock.advance(TTL);
  expect(await isAccepted(registered, secret)).toBe(true);
});

// @shows AS-22.15
test('a client that did not receive its new secret gets a new one by sending the previous one', async () => {
  const registered = await register();
  const { client_secret: old } = registered;
  await obtainTokens(portal, withSecret(registered, old), ADA);
  clock.advance(TTL - HOUR);
  const lost = await managed(registered);
  for (const client_secret of [lost.client_secret, '', null])
    expect(await managed(registered, { client_secret })).not.toHaveProperty('client_secret');
  const again = await managed(registered, { client_secret: old });
  expect(await isAccepted(registered, again.client_secret)).toBe(true);
  expect(await isAccepted(registered, old)).toBe(false);
});

// @shows AS-22.15
test('one of many simultaneous reads in two processes gets a new secret, and it works', async () => {
  const registered = await register();
  await obtainTokens(portal, withSecret(registered, registered.client_secret), ADA);
  clock.advance(TTL - HOUR);
  const database = portal.env['DATABASE_URL'] ?? '';
  const other = await startPortal({ clock: clock.now, config: config(TTL), databaseUrl: database });
  try {
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        manage(registered, undefined, index % 2 ? portal : other),
      ),
    );
    const answers = (await Promise.all(responses.map((each) => each.json()))) as Registration[];
    const given = answers.flatMap(({ client_secret: secret }) => secret ?? []);
    expect(given).toHaveLength(1);
    expect(await isAccepted(registered, given[0])).toBe(true);
    expect(await isAccepted(registered, registered.client_secret)).toBe(true);
  } finally {
    await other.close();
  }
});

// @shows AS-22.14
test('no secret is in the store, the events or the log', async () => {
  const { host } = portal.server;
  const written: unknown[] = [];
  const info = vi.spyOn(host.log, 'info').mockImplementation((...line) => void written.push(line));
  portal.application.events.on(AUDIT, (event) => {
    written.push(event);
  });
  const registered = await register();
  await obtainTokens(portal, withSecret(registered, registered.client_secret), ADA);
  clock.advance(TTL - HOUR);
  const renewed = await managed(registered);
  const wrong = await manage(registered, { client_secret: `${renewed.client_secret}x` });
  expect(wrong.status).toBe(400);
  const { rows } = await portal.application.database.execute('SELECT * FROM oauth_clients');
  for (const secret of [registered.client_secret, renewed.client_secret]) {
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(JSON.stringify([rows, written])).not.toContain(secret);
  }
  info.mockRestore();
  expect(JSON.stringify(written)).toContain('secret_rotated');
});

describe('with oauth_server:registration_secret_ttl at never_expires', () => {
  let forever: RunningPortal;
  beforeAll(async () => {
    forever = await startPortal({ config: config('never_expires') });
  });
  afterAll(() => forever.close());

  // @shows AS-22.14
  test('a secret never expires, and is never replaced automatically', async () => {
    const registered = await register(BASIC, forever);
    expect(registered.client_secret_expires_at).toBe(0);
    const read = await (await manage(registered, undefined, forever)).json();
    expect(read).not.toHaveProperty('client_secret');
    expect(read).not.toHaveProperty('client_secret_expires_at');
  });
});

// @shows AS-22.14
test.each([0, 3599, 'never', 1.5])(
  'oauth_server:registration_secret_ttl cannot be %j',
  async (ttl) => {
    await expect(startPortal({ config: config(ttl) })).rejects.toThrow(
      'oauth_server:registration_secret_ttl: must be "never_expires", or a whole number of seconds',
    );
  },
);
