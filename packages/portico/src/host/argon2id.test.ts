import crypto from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { runAsCaller } from '../http/caller.ts';
import { createArgon2id as argon2idHasher } from './argon2id.ts';

describe('argon2id', () => {
  const hasher = argon2idHasher();

  test('creates a hash that contains its parameters, with a new salt each time', async () => {
    const [one, other] = await Promise.all([hasher.hash('secret'), hasher.hash('secret')]);
    expect(one).toMatch(
      /^\$argon2id\$v=19\$m=47104,t=1,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/,
    );
    expect(one).not.toBe(other);
  });
  test('accepts the right password and no other', async () => {
    const hash = await hasher.hash('pässword');
    expect(await hasher.verify('pässword', hash)).toBe(true);
    expect(await hasher.verify('passwort', hash)).toBe(false);
    expect(await hasher.verify('', hash)).toBe(false);
  });
  test('verifies a hash with its own parameters', async () => {
    const hash = await argon2idHasher({ memory: 64, passes: 1 }).hash('secret');
    expect(await hasher.verify('secret', hash)).toBe(true);
  });
  test('queues at most 100 calls, refuses further ones, and then continues', async () => {
    const cheap = argon2idHasher({ memory: 64, passes: 1 });
    const results = await Promise.allSettled(
      Array.from({ length: 150 }, () => cheap.hash('secret')),
    );
    const refused = results.filter((result) => result.status === 'rejected');
    expect(refused).toHaveLength(48);
    for (const { reason } of refused)
      expect(reason).toMatchObject({ name: 'OverloadedError', status: 503 });
    expect(await cheap.verify('secret', await cheap.hash('secret'))).toBe(true);
  });
  test('uses the given parameters', async () => {
    const given = argon2idHasher({ memory: 64, passes: 2, parallelism: 3, atOnce: 1 });
    const hash = await given.hash('secret');
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=64,t=2,p=3\$/);
    expect(await given.verify('secret', hash)).toBe(true);
  });
  test('refuses further calls of the network with the most waiting calls, not of others', async () => {
    let network = 'flood';
    const cheap = argon2idHasher({ memory: 64 }, () => network);
    const flood = Array.from({ length: 150 }, () => cheap.hash('secret'));
    network = 'quiet';
    const quiet = [cheap.hash('secret'), runAsCaller('flood', () => cheap.hash('secret'))];
    const results = await Promise.allSettled([...quiet, ...flood]);
    const [alone, beside, ...others] = results.map(({ status }) => status);
    expect([alone, beside]).toEqual(['fulfilled', 'rejected']);
    expect(others.filter((status) => status === 'rejected')).toHaveLength(48);
  });
  test('accepts a hash from a different library', async () => {
    // This hash is from the reference implementation: echo -n password | argon2 somesalt -id -t 2
    // -k 65536 -p 1
    const hash =
      '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
    expect(await hasher.verify('password', hash)).toBe(true);
  });
  test.each([
    '',
    'plain',
    '$2b$10$abcdefghijklmnopqrstuv',
    '$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$',
    '$argon2id$v=19$m=1,t=0,p=0$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc',
  ])('accepts no password for the malformed hash %j', async (hash) => {
    expect(await hasher.verify('password', hash)).toBe(false);
  });

  describe('the parameters of a stored hash', () => {
    const SALT = 'c29tZXNhbHQ';
    const TAG = 'CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
    const withParameters = (parameters: string, salt = SALT, tag = TAG) =>
      `$argon2id$v=19$${parameters}$${salt}$${tag}`;

    /**
     * Returns the parameters that the engine is called with. The engine responds immediately, with
     * a tag that matches no hash.
     */
    async function askedFor(hash: string): Promise<readonly string[]> {
      const { argon2 } = crypto;
      const asked: string[] = [];
      crypto.argon2 = (_, { memory, passes, parallelism, tagLength }, done) => {
        asked.push(`m=${memory},t=${passes},p=${parallelism}`);
        done(null, Buffer.alloc(tagLength));
      };
      try {
        expect(await argon2idHasher().verify('secret', hash)).toBe(false);
      } finally {
        crypto.argon2 = argon2;
      }
      return asked;
    }

    test.each([
      'm=1048576,t=1,p=1',
      'm=64,t=16,p=1',
      'm=128,t=1,p=16',
      'm=1048576,t=16,p=16',
      'm=8,t=1,p=1',
    ])('may be up to 1 GiB, 16 passes and 16 lanes: %s', async (parameters) => {
      expect(await askedFor(withParameters(parameters))).toEqual([parameters]);
    });

    test.each([
      'm=1048577,t=1,p=1',
      'm=2097152,t=1,p=1',
      'm=9999999,t=1,p=1',
      'm=9999999,t=2,p=1',
      'm=10485760,t=1,p=1',
      'm=4294967295,t=1,p=1',
      'm=64,t=17,p=1',
      'm=64,t=99,p=1',
      'm=64,t=100,p=1',
      'm=4096,t=1,p=17',
      'm=4096,t=1,p=99',
      'm=4096,t=1,p=255',
      'm=64,t=0,p=1',
      'm=64,t=1,p=0',
      'm=0,t=1,p=1',
      'm=7,t=1,p=1',
      'm=31,t=1,p=4',
      'm=-64,t=1,p=1',
      'm=64,t=1,p=1,data=x',
      'm=64,p=1,t=1',
      '',
    ])('are refused beyond the limits, and nothing is computed: %s', async (parameters) => {
      expect(await askedFor(withParameters(parameters))).toEqual([]);
    });

    test.each([
      ['another Argon2 variant', withParameters('m=64,t=1,p=1').replace('argon2id', 'argon2i')],
      ['another version', withParameters('m=64,t=1,p=1').replace('v=19', 'v=16')],
      ['a short salt', withParameters('m=64,t=1,p=1', 'c29tZXNhb')],
      ['a long salt', withParameters('m=64,t=1,p=1', 'A'.repeat(87))],
      ['a short tag', withParameters('m=64,t=1,p=1', SALT, 'A'.repeat(21))],
      ['a long tag', withParameters('m=64,t=1,p=1', SALT, 'A'.repeat(87))],
      ['text before it', ` ${withParameters('m=64,t=1,p=1')}`],
      ['text after it', `${withParameters('m=64,t=1,p=1')}$`],
    ])('are not used if the hash has %s', async (_, hash) => {
      expect(await askedFor(hash)).toEqual([]);
    });
  });

  test('that the engine does not support causes an error only when a password is hashed', async () => {
    const { argon2 } = crypto;
    const hash = await argon2idHasher({ memory: 64 }).hash('secret');
    try {
      Reflect.deleteProperty(crypto, 'argon2');
      const without = argon2idHasher();
      await expect(without.hash('secret')).rejects.toThrow('does not have crypto.argon2');
      await expect(without.verify('secret', hash)).rejects.toThrow('your own passwordHasher');
    } finally {
      crypto.argon2 = argon2;
    }
  });
});
