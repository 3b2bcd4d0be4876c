import { expect, test } from 'vitest';
import type { PasswordHasher } from '../host/password-hasher.ts';
import type { Client } from '../store/client.ts';
import { ClientSecrets } from './secrets.ts';

const HOUR = 3_600_000;

/**
 * Creates secrets with a fast password hasher. The hasher counts its calls, and a test can make it
 * wait or fail.
 */
function start() {
  const state = { now: 1_000_000, hashed: 0, verified: 0, isOutOfOrder: false };
  const gates: (() => void)[] = [];
  let isGated = false;
  const passwordHasher: PasswordHasher = {
    async hash(password) {
      state.hashed += 1;
      return `$plain$${password}`;
    },
    async verify(password, hash) {
      state.verified += 1;
      if (isGated) await new Promise<void>((resolve) => gates.push(resolve));
      if (state.isOutOfOrder) throw new Error('out of order');
      expect(hash).toMatch(/^\$plain\$/);
      return hash === `$plain$${password}`;
    },
  };
  const secrets = new ClientSecrets(passwordHasher, () => state.now);
  return {
    state,
    secrets,
    hold: () => void (isGated = true),
    release: () => {
      isGated = false;
      for (const open of gates.splice(0)) open();
    },
    /** Returns how many slow verifications this check costs. */
    costOf: async (client: Client | null, secret: string): Promise<number> => {
      const before = state.verified;
      await secrets.verify(client, secret, client?.id ?? 'unknown');
      return state.verified - before;
    },
    isKnown: async (client: Client | null, secret: string) =>
      secrets.isKnown(client, secret, client?.id ?? 'unknown'),
    verify: (client: Client | null, secret: string) =>
      secrets.verify(client, secret, client?.id ?? 'unknown'),
  };
}

const hashOf = (secret: string) => `$plain$${secret}`;
const clientWith = (id: string, secret: string | null, changes: Partial<Client> = {}) =>
  ({
    id,
    secretHash: secret === null ? null : hashOf(secret),
    secretExpiresAt: null,
    previousSecretHash: null,
    previousSecretExpiresAt: null,
    ...changes,
  }) as Client;
const rotated = (id: string, until: number) =>
  clientWith(id, 'new', { previousSecretHash: hashOf('old'), previousSecretExpiresAt: until });

// @shows AS-9.3
test('a correct secret is remembered for its client until the stored hash changes', async () => {
  const { isKnown, verify } = start();
  const client = clientWith('a', 'right');
  expect(await isKnown(client, 'right')).toBe(false);
  expect([await verify(client, 'wrong'), await isKnown(client, 'wrong')]).toEqual([false, false]);
  expect([await verify(client, 'right'), await isKnown(client, 'right')]).toEqual([true, true]);
  expect(await isKnown(client, 'wrong')).toBe(false);
  expect(await isKnown(clientWith('b', 'right'), 'right')).toBe(false);
  expect(await isKnown(clientWith('a', 'another'), 'right')).toBe(false);
  expect([await isKnown(clientWith('a', null), 'right'), await isKnown(null, 'right')]).toEqual([
    false,
    false,
  ]);
});

// @shows AS-9.3
test('the previous secret is correct and remembered until its overlap ends', async () => {
  const { state, isKnown, verify } = start();
  const client = rotated('a', state.now + HOUR);
  expect([await verify(client, 'old'), await verify(client, 'new')]).toEqual([true, true]);
  state.now += HOUR - 1;
  expect([await isKnown(client, 'old'), await isKnown(client, 'new')]).toEqual([true, true]);
  state.now += 1;
  expect([await isKnown(client, 'old'), await verify(client, 'old')]).toEqual([false, false]);
  expect(await isKnown(client, 'new')).toBe(true);
  const ended = { previousSecretHash: hashOf('old'), previousSecretExpiresAt: null };
  expect(await verify(clientWith('a', 'new', ended), 'old')).toBe(false);
  expect(
    await verify(clientWith('a', 'new', { previousSecretExpiresAt: state.now + 1 }), 'old'),
  ).toBe(false);
});

// @shows AS-9.3, AS-22.15
test('an expired secret is wrong even if it was remembered, and costs as much as any wrong one', async () => {
  const { state, isKnown, verify, costOf } = start();
  const expiring = clientWith('a', 'right', { secretExpiresAt: state.now + HOUR });
  expect([await verify(expiring, 'right'), await isKnown(expiring, 'right')]).toEqual([true, true]);
  state.now += HOUR - 1;
  expect(await isKnown(expiring, 'right')).toBe(true);
  state.now += 1;
  expect([await isKnown(expiring, 'right'), await verify(expiring, 'right')]).toEqual([
    false,
    false,
  ]);
  expect([await costOf(expiring, 'right'), await costOf(null, 'right')]).toEqual([1, 1]);
  const inOverlap = { ...rotated('b', state.now + HOUR), secretExpiresAt: state.now };
  expect([await verify(inOverlap, 'old'), await verify(inOverlap, 'new')]).toEqual([true, false]);
  expect([await costOf(inOverlap, 'new'), await costOf(null, 'new')]).toEqual([2, 2]);
});

// @shows AS-9.3
test.each(['', ' ', '\t\n'])('the blank secret %j is wrong, even with its hash', async (blank) => {
  const { verify, isKnown, costOf } = start();
  const client = clientWith('a', blank);
  expect([await verify(client, blank), await isKnown(client, blank)]).toEqual([false, false]);
  expect(await costOf(client, blank)).toBe(1);
});

test('every refusal costs two hashes once this process has seen a client with two secrets', async () => {
  const { state, costOf } = start();
  const client = clientWith('a', 'right');
  const costs = async () => [
    await costOf(null, 'x'),
    await costOf(clientWith('public', null), 'x'),
    await costOf(client, 'wrong'),
  ];
  expect(await costs()).toEqual([1, 1, 1]);
  const until = state.now + HOUR;
  expect(await costOf(rotated('b', until), 'wrong')).toBe(2);
  expect(await costOf(rotated('c', until - 1000), 'wrong')).toBe(2);
  expect(await costs()).toEqual([2, 2, 2]);
  state.now = until - 1;
  expect(await costs()).toEqual([2, 2, 2]);
  state.now = until;
  expect(await costs()).toEqual([1, 1, 1]);
  expect(await costOf(rotated('b', until), 'wrong')).toBe(1);
  // The hash for clients without a secret is created only once.
  expect(state.hashed).toBe(1);
});

test('of identical simultaneous attempts, one is verified and the others wait for its result', async () => {
  const { state, hold, release, isKnown, verify, costOf } = start();
  const client = clientWith('a', 'right');
  hold();
  const first = verify(client, 'right');
  const others = [verify(client, 'right'), isKnown(client, 'right')];
  const another = isKnown(client, 'wrong');
  expect(await another).toBe(false);
  release();
  expect(await Promise.all([first, ...others])).toEqual([true, true, true]);
  expect(state.verified).toBe(1);
  // The result for a wrong secret is not remembered, so each attempt needs a slow verification.
  expect([await costOf(client, 'wrong'), await costOf(client, 'wrong')]).toEqual([1, 1]);
});

test('an error of the hasher is thrown to the caller that started it, not to those that wait', async () => {
  const { state, hold, release, isKnown, verify } = start();
  const client = clientWith('a', 'right');
  hold();
  const first = verify(client, 'right').catch((error: unknown) => String(error));
  const waiting = isKnown(client, 'right');
  state.isOutOfOrder = true;
  release();
  expect([await first, await waiting]).toEqual(['Error: out of order', false]);
  state.isOutOfOrder = false;
  expect(await verify(client, 'right')).toBe(true);
});

test('10,000 secrets are remembered, and the least recently used one is dropped first', async () => {
  const { isKnown, verify } = start();
  const clients = Array.from({ length: 10_001 }, (_, index) =>
    clientWith(`client-${index}`, 'right'),
  );
  const [first = null, second = null, third = null] = clients;
  for (const client of clients.slice(0, 10_000)) await verify(client, 'right');
  expect(await isKnown(first, 'right')).toBe(true);
  await verify(clients.at(-1) ?? null, 'right');
  const known = [first, second, third, clients.at(-1) ?? null].map((client) =>
    isKnown(client, 'right'),
  );
  expect(await Promise.all(known)).toEqual([true, false, true, true]);
});
