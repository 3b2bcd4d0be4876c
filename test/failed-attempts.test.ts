// @engines sqlite: what is counted is in memory
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  createClock,
  errorOf,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';

/** Wrong client secrets, as they come from an address; the proxy of the tests says which. */
const clock = createClock();
let portal: RunningPortal;
let client: TestClient;
let address: string;
let addresses = 0;

beforeAll(async () => {
  portal = await startPortal({ clock: clock.now, config: { trusted_proxies: 1 } });
});
afterAll(() => portal.close());
beforeEach(async () => {
  client = await registerClient(portal, {
    redirectUris: [],
    grants: ['client_credentials'],
    scopes: ['notes:read'],
  });
  addresses += 1;
  address = `192.0.2.${addresses}`;
});

function ask(secret: string, { from = address, id = client.id } = {}): Promise<Response> {
  const credentials = Buffer.from(`${id}:${secret}`).toString('base64');
  return fetch(`${portal.url}/oauth/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${credentials}`, 'X-Forwarded-For': `203.0.113.9, ${from}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
}
const status = async (response: Promise<Response>) => (await response).status;

async function guess(times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) expect(await status(ask('wrong'))).toBe(401);
}

describe('failed client authentication', () => {
  test('is slowed down per client and address: the wait is told, and doubles', async () => {
    await guess(5);
    const refused = await ask('wrong');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await errorOf(refused)).toBe('temporarily_unavailable');
    const waits: string[] = [];
    for (let count = 0; count < 7; count += 1) {
      clock.advance(30);
      await guess(1);
      waits.push((await ask('wrong')).headers.get('retry-after') ?? '');
    }
    expect(waits).toEqual(['2', '4', '8', '16', '30', '30', '30']);
  });

  test('locks nobody out: the right secret is taken from elsewhere, here after the wait, and at once when it was right before', async () => {
    await guess(5);
    expect(await status(ask(client.secret))).toBe(429);
    clock.advance(1);
    expect(await status(ask(client.secret))).toBe(200);
    await guess(1);
    expect(await status(ask('wrong'))).toBe(429);
    expect(await status(ask(client.secret))).toBe(200);
    const other = await registerClient(portal, {
      redirectUris: [],
      grants: ['client_credentials'],
      scopes: ['notes:read'],
    });
    expect(await status(ask(other.secret, { id: other.id }))).toBe(200);
    expect(await status(ask(client.secret, { from: '198.51.100.1' }))).toBe(200);
  });

  test('says nothing about whether a client exists', async () => {
    for (let count = 0; count < 5; count += 1) {
      expect(await status(ask('wrong', { id: 'nobody' }))).toBe(401);
    }
    expect(await status(ask('wrong', { id: 'nobody' }))).toBe(429);
  });

  test('of many clients from one address is slowed down too', async () => {
    const guesses = [];
    for (let count = 0; count < 50; count += 1)
      guesses.push(await status(ask('wrong', { id: `no-${count}` })));
    expect(guesses).toEqual(Array.from({ length: 50 }, () => 401));
    expect(await status(ask('wrong', { id: 'no-51' }))).toBe(429);
  });

  test('is forgotten after a quarter of an hour', async () => {
    await guess(5);
    clock.advance(15 * 60 + 1);
    await guess(4);
    expect(await status(ask('wrong'))).toBe(401);
  });

  test('lets one of twenty go ahead while somebody guesses all the time', async () => {
    await guess(5);
    const statuses = [];
    for (let count = 0; count < 19; count += 1) statuses.push(await status(ask('wrong')));
    expect(new Set(statuses)).toEqual(new Set([429]));
    expect(await status(ask(client.secret))).toBe(200);
  });

  test('counts an IPv6 caller by its network', async () => {
    for (let count = 0; count < 5; count += 1) {
      expect(await status(ask('wrong', { from: `2001:db8:0:1::${count}` }))).toBe(401);
    }
    expect(await status(ask('wrong', { from: '2001:db8:0:1:ffff::9' }))).toBe(429);
    expect(await status(ask('wrong', { from: '2001:db8:0:2::1' }))).toBe(401);
  });

  test('many first uses of the right secret at the same moment are all answered', async () => {
    const statuses = await Promise.all(Array.from({ length: 20 }, () => status(ask(client.secret))));
    expect(statuses).toEqual(Array.from({ length: 20 }, () => 200));
  });

  test('a secret that was right before is dead the moment another takes its place', async () => {
    expect(await status(ask(client.secret))).toBe(200);
    await portal.server.clients.rotateSecret(client.id, 0);
    expect(await status(ask(client.secret))).toBe(401);
  });
});
