import { describe, expect, test } from 'vitest';
import type { ClientSecrets } from '../../clients/secrets.ts';
import type { Server } from '../../server.ts';
import type { Client } from '../../store/client.ts';
import { GivenSecrets } from './given-secrets.ts';

const NOW = 1_800_000_000_000;
const DAY = 86_400_000;
const TTL = 90 * 86_400;
const WINDOW = 30 * DAY;

const CLIENT = {
  id: 'a',
  public: false,
  keys: null,
  secretHash: 'hash of current',
  secretExpiresAt: NOW + 90 * DAY,
  previousSecretHash: null,
} as Partial<Client> as Client;

/** Creates secrets with this lifetime. `meanwhile` is true if another call rotates the secret. */
function start(ttl?: number | 'never_expires', { meanwhile = false } = {}) {
  const rotated: unknown[] = [];
  const events: object[] = [];
  const server = {
    config: { registration_secret_ttl: ttl },
    host: { passwordHasher: { hash: async (secret: string) => `hash of ${secret}` } },
    store: {
      clients: {
        async rotateSecret(...asked: unknown[]) {
          rotated.push(asked);
          return !meanwhile;
        },
      },
    },
    audit: async (event: object) => void events.push(event),
    clock: () => NOW,
  } as unknown as Server;
  const secrets = {
    verify: async (client: Client, sent: string) =>
      [client.secretHash, client.previousSecretHash].includes(`hash of ${sent}`),
  } as unknown as ClientSecrets;
  const given = new GivenSecrets(server, secrets);
  const renew = (changes: Partial<Client> = {}, sent: string | null = null) =>
    given.renew({ ...CLIENT, ...changes }, '192.0.2.7', sent);
  return { given, renew, rotated, events };
}

describe('a secret for a client that registers itself', () => {
  test('is random, and expires as configured', async () => {
    const { given } = start(TTL);
    const one = await given.create('192.0.2.7');
    expect(one).toEqual({
      secret: expect.stringMatching(/^[\w-]{43}$/) as string,
      hash: `hash of ${one.secret}`,
      expiresAt: NOW + 90 * DAY,
    });
    expect((await given.create('192.0.2.7')).secret).not.toBe(one.secret);
    for (const ttl of [undefined, 'never_expires'] as const)
      expect((await start(ttl).given.create('')).expiresAt).toBeNull();
  });

  test('is given without an initial access token only with a configured lifetime', () => {
    const lifetimes = [undefined, TTL, 'never_expires'] as const;
    expect(lifetimes.map((ttl) => start(ttl).given.toStrangers)).toEqual([false, true, true]);
  });
});

describe('the secret of a registration is replaced', () => {
  test('from the last third of its life on, and the old one stays valid until its end', async () => {
    const { renew, rotated, events } = start(TTL);
    expect(await renew({ secretExpiresAt: NOW + WINDOW + 1 })).toBeNull();
    expect([rotated, events]).toEqual([[], []]);
    const until = NOW + WINDOW;
    const given = await renew({ secretExpiresAt: until });
    expect(rotated).toEqual([['a', given?.hash, until, 'hash of current', NOW + 90 * DAY]]);
    expect(events).toEqual([{ type: 'secret_rotated', clientId: 'a', previousExpiresAt: until }]);
  });

  test.each([NOW, NOW - 1])('after its end, which the event does not name: %d', async (until) => {
    const { renew, rotated, events } = start(TTL);
    const given = await renew({ secretExpiresAt: until });
    expect(rotated).toEqual([['a', given?.hash, until, 'hash of current', given?.expiresAt]]);
    expect(events).toEqual([{ type: 'secret_rotated', clientId: 'a', previousExpiresAt: null }]);
  });

  test('if it expires, but new secrets do not', async () => {
    const { renew, rotated } = start('never_expires');
    const given = await renew();
    expect(given?.expiresAt).toBeNull();
    expect(rotated).toEqual([['a', given?.hash, NOW + DAY, 'hash of current', null]]);
    expect(await renew({ secretExpiresAt: null })).toBeNull();
  });

  test('if the client sends its previous one, which it still has', async () => {
    const { renew, rotated } = start(TTL);
    const two = { previousSecretHash: 'hash of previous' };
    expect(await renew(two, 'current')).toBeNull();
    expect(await renew(two, null)).toBeNull();
    expect(await renew({}, 'previous')).toBeNull();
    expect(rotated).toEqual([]);
    const given = await renew(two, 'previous');
    expect(rotated).toEqual([
      ['a', given?.hash, NOW + WINDOW, 'hash of current', given?.expiresAt],
    ]);
  });

  test('but not after an operator’s rotation, whose secret never expires', async () => {
    const { renew, rotated } = start(TTL);
    const rotation = { previousSecretHash: 'hash of previous', secretExpiresAt: null };
    expect(await renew(rotation, 'previous')).toBeNull();
    expect(rotated).toEqual([]);
  });

  test('only if the client has one, and the server gives secrets to such clients', async () => {
    const soon = { secretExpiresAt: NOW };
    expect(await start().renew(soon)).toBeNull();
    const { renew, rotated } = start(TTL);
    expect(await renew({ ...soon, public: true })).toBeNull();
    expect(await renew({ ...soon, secretHash: null })).toBeNull();
    expect(rotated).toEqual([]);
  });

  test('only once of two calls at the same time', async () => {
    const { renew, rotated, events } = start(TTL, { meanwhile: true });
    expect(await renew({ secretExpiresAt: NOW })).toBeNull();
    expect([rotated.length, events]).toEqual([1, []]);
  });
});
