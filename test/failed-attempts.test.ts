// @engines sqlite: failed attempts are counted in memory
import { readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import path from 'node:path';
import { argon2idHasher } from '@portico/kit';
import { AUDIT, type AuditEvent } from 'portico';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClock } from './support/clock.ts';
import {
  errorOf,
  registerClient,
  startPortal,
  type RunningPortal,
  type TestClient,
} from './support/portal.ts';
import { createRandom } from './support/random.ts';
import { RUNS_ALL, SCALE } from './support/scale.ts';

/** Wrong client secrets from chosen addresses, given in X-Forwarded-For. */
const clock = createClock();
let portal: RunningPortal;
let client: TestClient;
let address: string;
let addresses = 0;
const events: AuditEvent[] = [];
/** The default for `random`. With it, the server rejects every attempt that it slows down. */
const never = () => 0.999;
let random = never;

beforeAll(async () => {
  portal = await startPortal({
    clock: clock.now,
    random: () => random(),
    config: { trusted_proxies: 1 },
  });
  portal.application.events.on(AUDIT, (event: AuditEvent) => events.push(event));
});
afterAll(() => portal.close());
/**
 * A client and an address without failures: each test begins with new ones, also when it runs
 * again.
 */
async function begin(): Promise<void> {
  client = await registerClient(portal, {
    redirectUris: [],
    grants: ['client_credentials'],
    scopes: ['notes:read'],
  });
  addresses += 1;
  address = `198.18.${addresses >> 8}.${addresses & 255}`;
  events.length = 0;
  random = never;
}

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
  // @shows AS-17.1, RFC6749-10.10b
  test('is slowed down per client and address: the wait in the response doubles', async () => {
    await begin();
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

  // @shows AS-17.1
  test('never blocks the right secret from elsewhere, after the wait, or if it worked before', async () => {
    await begin();
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

  // @shows AS-17.1
  test('does not count simultaneous first requests with the right secret', async () => {
    await begin();
    const credentials = Buffer.from(`${client.id}:${client.secret}`).toString('base64');
    const requests = Array.from({ length: 40 }, () =>
      portal.application.fetch(
        new Request(`${portal.url}/oauth/token`, {
          method: 'POST',
          headers: { Authorization: `Basic ${credentials}` },
          body: new URLSearchParams({ grant_type: 'client_credentials' }),
        }),
      ),
    );
    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  test('does not reveal whether a client exists', async () => {
    await begin();
    for (let count = 0; count < 5; count += 1) {
      expect(await status(ask('wrong', { id: 'unknown' }))).toBe(401);
    }
    expect(await status(ask('wrong', { id: 'unknown' }))).toBe(429);
  });

  // @shows AS-17.1, RFC6749-10.10b, RFC9700-4.13
  test('is slowed down for many clients from one address too', async () => {
    await begin();
    const guesses = [];
    for (let count = 0; count < 50; count += 1)
      guesses.push(await status(ask('wrong', { id: `no-${count}` })));
    expect(guesses).toEqual(Array.from({ length: 50 }, () => 401));
    expect(await status(ask('wrong', { id: 'no-51' }))).toBe(429);
    expect(await status(ask('wrong', { id: 'no-51', from: '198.51.100.3' }))).toBe(401);
  });

  test('is forgotten after 15 minutes', async () => {
    await begin();
    await guess(5);
    clock.advance(15 * 60 + 1);
    await guess(4);
    expect(await status(ask('wrong'))).toBe(401);
  });

  // @shows AS-17.1
  test('cannot block the right secret after any number of attempts', async () => {
    await begin();
    // Both counters slow down, with different waits.
    await guess(5);
    for (let count = 0; count < 7; count += 1) expect(await status(ask('wrong'))).toBe(429);
    for (let count = 0; count < 45; count += 1) await ask('wrong', { id: `no-${count}` });
    expect(await status(ask('wrong', { id: 'no-46' }))).toBe(429);
    random = createRandom(1);
    const guesses: number[] = [];
    let tries = 0;
    for (let answer = 0; answer !== 200; tries += 1) {
      expect(tries).toBeLessThan(100);
      for (let count = 0; count < 5; count += 1) guesses.push(await status(ask('wrong')));
      answer = await status(ask(client.secret));
    }
    expect(new Set(guesses)).toEqual(new Set([401, 429]));
    // Most guesses cost no slow hash.
    expect(guesses.filter((answer) => answer === 401).length).toBeLessThan(guesses.length / 8);
  });

  // @shows AS-17.1
  test('is audited once, when a series starts to be slowed down', async () => {
    await begin();
    const told = () => events.filter(({ type }) => type === 'client_authentication_slowed');
    await guess(5);
    expect(told()).toEqual([]);
    expect(await status(ask('wrong'))).toBe(429);
    expect(told()).toEqual([
      { type: 'client_authentication_slowed', clientId: client.id, address },
    ]);
    for (const wait of [1, 2, 4, 30]) {
      clock.advance(wait);
      await guess(1);
      expect(await status(ask('wrong'))).toBe(429);
    }
    expect(told()).toHaveLength(1);
    clock.advance(15 * 60 + 1);
    await guess(5);
    expect(await status(ask('wrong'))).toBe(429);
    expect(told()).toHaveLength(2);
  });

  test('is counted by network for an IPv6 caller', async () => {
    await begin();
    for (let count = 0; count < 5; count += 1) {
      expect(await status(ask('wrong', { from: `2001:db8:0:1::${count}` }))).toBe(401);
    }
    expect(await status(ask('wrong', { from: '2001:db8:0:1:ffff::9' }))).toBe(429);
    expect(await status(ask('wrong', { from: '2001:db8:0:2::1' }))).toBe(401);
  });

  // @shows AS-17.4, HOST-1.7
  test.each([
    ['with a port', (port: number) => `203.0.113.77:${41_000 + port}`, '203.0.113.77'],
    ['of IPv6 with a port', (port: number) => `[2001:DB8:7::1]:${41_000 + port}`, '2001:db8:7::1'],
    ['with a zone', (zone: number) => `2001:db8:8::1%${zone}`, '2001:db8:8::1'],
    ['mapped to IPv6', (port: number) => `[::ffff:203.0.113.78]:${port + 1}`, '203.0.113.78'],
    [
      'of the proxy if the forwarded one is invalid',
      (count: number) => `unknown-${count}`,
      '127.0.0.1',
    ],
  ])('is counted by the address %s', async (_, from, known) => {
    await begin();
    for (let count = 0; count < 5; count += 1)
      expect(await status(ask('wrong', { from: from(count) }))).toBe(401);
    expect(await status(ask('wrong', { from: from(6) }))).toBe(429);
    expect(events.at(-1)).toEqual({
      type: 'client_authentication_slowed',
      clientId: client.id,
      address: known,
    });
    expect(await status(ask(client.secret, { from: '198.51.100.2' }))).toBe(200);
  });

  // @shows AS-17.4
  test('treats addresses in several header fields as one list', async () => {
    await begin();
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: client.id });
    body.set('client_secret', 'wrong');
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const forwarded = [
      'X-Forwarded-For',
      '203.0.113.1',
      'X-Forwarded-For',
      `203.0.113.2, ${address}:81`,
    ];
    await new Promise<void>((resolve, reject) => {
      const sent = httpRequest(`${portal.url}/oauth/token`, {
        method: 'POST',
        headers: [
          ...Object.entries(headers).flat(),
          'Host',
          new URL(portal.url).host,
          ...forwarded,
        ],
      });
      sent.on('response', (answer) => answer.resume().on('end', resolve)).on('error', reject);
      sent.end(body.toString());
    });
    expect(events).toEqual([
      { type: 'client_authentication_failed', clientId: client.id, address },
    ]);
  });

  test('does not delay many simultaneous first uses of the right secret', async () => {
    await begin();
    const statuses = await Promise.all(
      Array.from({ length: 20 }, () => status(ask(client.secret))),
    );
    expect(statuses).toEqual(Array.from({ length: 20 }, () => 200));
  });

  test('is immediate for a replaced secret, even if it worked before', async () => {
    await begin();
    expect(await status(ask(client.secret))).toBe(200);
    await portal.server.clients.rotateSecret(client.id, 0);
    expect(await status(ask(client.secret))).toBe(401);
  });
});

// @shows AS-17.3
test.runIf(RUNS_ALL)(
  'a flood of client secrets blocks no other network, and logs one line per second',
  async () => {
    // The worst case: no part of the flood is slowed down, and every attempt costs a hash.
    const passwordHasher = argon2idHasher({ memory: SCALE.slowHashMemory });
    const flooded = await startPortal({
      passwordHasher,
      random: () => 0,
      config: { trusted_proxies: 1 },
    });
    try {
      const registration = {
        redirectUris: [],
        grants: ['client_credentials'],
        scopes: ['notes:read'],
      };
      const { id, secret } = await registerClient(flooded, registration);
      const token = (given: string, from: string) =>
        fetch(`${flooded.url}/oauth/token`, {
          method: 'POST',
          headers: { 'X-Forwarded-For': from },
          body: new URLSearchParams({
            grant_type: 'client_credentials',
            client_id: id,
            client_secret: given,
          }),
        });
      const flooding = new AbortController();
      const full = Promise.withResolvers<void>();
      const answers: number[] = [];
      const flood = Array.from({ length: 130 }, async (_, index) => {
        while (!flooding.signal.aborted) {
          answers.push(await status(token(`wrong ${index}`, '203.0.113.9')));
          if (answers.at(-1) === 503) full.resolve();
        }
      });
      await full.promise;
      expect(await status(token(secret, '198.51.100.1'))).toBe(200);
      flooding.abort();
      await Promise.all(flood);
      expect(new Set(answers)).toEqual(new Set([401, 503]));
      const log = await readFile(path.join(flooded.env['STORAGE_DIR'] ?? '', 'app.log'), 'utf8');
      const told = log.split('\n').filter((line) => line.includes('Too many client secret checks'));
      expect(told.length).toBeGreaterThan(0);
      expect(told.length).toBeLessThan(answers.filter((each) => each === 503).length);
      for (const line of told) expect(line.length).toBeLessThan(300);
    } finally {
      await flooded.close();
    }
  },
);
