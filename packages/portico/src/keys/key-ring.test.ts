import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { OutOfRangeError } from '@portico/sql';
import type { JWK } from 'jose';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createKeys, LIFETIME, signerOf } from '../../../../test/support/key-ring.ts';
import {
  changeFile,
  changeOpenFiles,
  stopTime,
  systemError,
} from '../../../../test/support/node-parts.ts';
import type { SigningAlgorithm } from '../store/client.ts';
import { KeyRotationError, KeysLostError } from './signing-key.ts';

const CENTURY = 3_155_760_000;
const ED = 'EdDSA';
const fails = (code: string) => Promise.reject(systemError(code));
const lost = async (keys: Promise<unknown>) =>
  expect(await keys.catch((error: unknown) => error)).toBeInstanceOf(KeysLostError);

describe('the key that signs', () => {
  // @shows AS-11.2
  test('is the newest one of its algorithm, and null if there is none', async () => {
    const { ring, put } = createKeys();
    put('1000-a.json', 'RS256');
    put('3000-c.EdDSA.json', ED);
    put('2000-b.EdDSA.json', ED);
    put('4000-d.json', 'RS256');
    expect((await ring.active())?.kid).toBe('4000-d');
    expect((await ring.active(ED))?.kid).toBe('3000-c');
    expect(await ring.active('ES256')).toBe(null);
  });

  // @shows AS-11.10
  test('is a staged key from its time on, or before it if there is no other key', async () => {
    const { ring, put, now, advance } = createKeys();
    put('0-next-b.EdDSA.json', ED, { signs_from: now() + 60_000 });
    expect((await ring.active(ED))?.kid).toBe('0-next-b');
    put('1000-a.EdDSA.json', ED);
    await ring.all();
    expect((await ring.active(ED))?.kid).toBe('1000-a');
    advance(60);
    expect((await ring.active(ED))?.kid).toBe('0-next-b');
  });

  // @shows AS-11.20
  test('is the KeySigner with the earliest time, if all of them start later', async () => {
    const signers = [5000, 3000, 4000].map((seconds) =>
      signerOf(ED, `${seconds}`, { signsFrom: 1_700_000_000_000 + seconds * 1000 }),
    );
    const { ring } = createKeys({ signers });
    expect((await ring.active(ED))?.kid).toBe('3000');
  });

  test('signs only after every other process has had time to publish it', async () => {
    const time = stopTime();
    const one = createKeys();
    const other = createKeys({ directory: one.directory });
    one.put('1000-a.EdDSA.json', ED);
    await one.ring.all();
    await other.ring.all();
    time.advance(60_000);
    // The other process has just answered a request for its keys, and may repeat that answer.
    expect(await other.ring.published()).toHaveLength(1);
    const { kid } = await one.ring.generate(ED);
    expect((await one.ring.active(ED))?.kid).toBe(kid);
    expect((await other.ring.published()).map((key) => key.kid)).toEqual([kid, '1000-a']);
    // Ten milliseconds after a change, no process repeats such an answer.
    const second = await one.ring.generate(ED);
    time.advance(10);
    const before = time.now();
    expect((await one.ring.active(ED))?.kid).toBe(second.kid);
    expect(time.now()).toBe(before);
  });

  test('signs without a delay while the keys stay the same, also if an old one cannot be read', async () => {
    const time = stopTime();
    const { ring, put } = createKeys();
    put('2000-b.EdDSA.json', ED);
    put('1000-a.EdDSA.json', ED, { kid: '' });
    await ring.active(ED);
    time.advance(60_000);
    const before = time.now();
    expect((await ring.active(ED))?.kid).toBe('2000-b');
    await ring.all();
    expect((await ring.active(ED))?.kid).toBe('2000-b');
    expect(time.now()).toBe(before);
  });
});

describe('the published keys', () => {
  // @shows AS-11.2
  test('are read at most ten milliseconds ago, and are the same list until they change', async () => {
    const time = stopTime();
    const { ring, put } = createKeys();
    put('1000-a.EdDSA.json', ED);
    const first = await ring.published();
    time.advance(995);
    expect(await ring.published()).toBe(first);
    put('2000-b.EdDSA.json', ED);
    for (const milliseconds of [5, 4]) {
      time.advance(milliseconds);
      expect(await ring.published()).toBe(first);
    }
    time.advance(1);
    const second = await ring.published();
    expect(second.map(({ kid }) => kid)).toEqual(['2000-b', '1000-a']);
    // One change is often followed by another.
    put('3000-c.EdDSA.json', ED);
    time.advance(1);
    expect(await ring.published()).toHaveLength(3);
  });

  // @shows AS-11.13
  test('contain a key only once while another process renames it', async () => {
    const { kids, put, now } = createKeys();
    const { kty, crv, x, d } = put('0-next-a.EdDSA.json', ED, { kid: 'a', signs_from: now() });
    put(`${now()}-a.EdDSA.json`, ED, { kid: 'a', kty, crv, x, d });
    put('0-next-b.EdDSA.json', ED, { kid: 'b', signs_from: now() + 1 });
    put('1000-c.EdDSA.json', ED, { kid: 'c' });
    expect(await kids()).toEqual(['b', 'a', 'c']);
  });

  // @shows AS-11.4
  test('do not contain an old key that cannot be read, and the log says why', async () => {
    const { kids, put, logged, directory } = createKeys();
    put('3000-c.EdDSA.json', ED);
    put('2000-b.EdDSA.json', ED, { kid: '' });
    put('0-next-a.EdDSA.json', ED);
    put('9000-rsa.json', 'RS256');
    expect(await kids()).toEqual(['9000-rsa', '3000-c']);
    const about = (name: string) => ({
      exception: new Error(`The signing key ${path.join(directory, name)} cannot be read`),
    });
    expect(logged.toSorted(([one], [other]) => (one < other ? -1 : 1))).toEqual([
      ['A retired signing key cannot be read: {exception}', about('2000-b.EdDSA.json')],
      ['A staged signing key cannot be read: {exception}', about('0-next-a.EdDSA.json')],
    ]);
    // Later listings do not log it again.
    await kids();
    expect(logged).toHaveLength(2);
    // The file is read again, because it can become readable.
    put('2000-b.EdDSA.json', ED);
    expect(await kids()).toEqual(['9000-rsa', '3000-c', '2000-b']);
  });

  // @shows AS-11.20
  test('contain one key of a KeySigner and a file with the same kid: the key that signs', async () => {
    const signer = signerOf(ED, 'same', { signsFrom: 1_700_000_060_000 });
    const { ring, put, logged, advance, directory } = createKeys({ signers: [signer] });
    const { x } = put('1000-a.EdDSA.json', ED, { kid: 'same' });
    // The same kid with another algorithm is no conflict.
    put('1000-b.json', 'RS256', { kid: 'same' });
    const published = async () =>
      (await ring.published())
        .filter(({ algorithm }) => algorithm === ED)
        .map(({ publicJwk }) => publicJwk.x);
    expect(await published()).toEqual([x]);
    expect(await ring.published()).toHaveLength(2);
    expect(await ring.published()).toBe(await ring.published());
    expect((await ring.active(ED))?.publicJwk.x).toBe(x);
    advance(60);
    expect(await published()).toEqual([signer.publicJwk.x]);
    expect((await ring.active(ED))?.publicJwk.x).toBe(signer.publicJwk.x);
    expect(logged).toEqual([
      [
        'The signing key {file} and a KeySigner have the same kid, but are different keys',
        { file: path.join(directory, '1000-a.EdDSA.json') },
      ],
    ]);
  });

  test('contain the key of a KeySigner once, without a log line, if its file still exists', async () => {
    const { directory, put } = createKeys();
    const { kty, crv, x } = put('1000-a.EdDSA.json', ED, { kid: 'same' });
    const publicJwk = { crv, x, kty } as JWK;
    const { ring, logged } = createKeys({
      directory,
      signers: [signerOf(ED, 'same', { publicJwk })],
    });
    expect((await ring.published()).map(({ file }) => file)).toEqual([null]);
    expect(logged).toEqual([]);
  });

  // @shows AS-11.4
  test.each(['RS256', 'EdDSA', 'ES256'] as const)(
    'are refused if the newest %s key cannot be read, until it can',
    async (algorithm) => {
      const { ring, kids, put, directory } = createKeys();
      const nameOf = (number: number, of: SigningAlgorithm) =>
        `${number}-a.${of === 'RS256' ? '' : `${of}.`}json`;
      for (const each of ['RS256', 'EdDSA', 'ES256'] as const)
        put(nameOf(each === algorithm ? 1000 : 9000, each), each, { kid: each });
      const newest = nameOf(2000, algorithm);
      await mkdir(path.join(directory, newest));
      await lost(ring.published());
      await lost(ring.active());
      await rm(path.join(directory, newest), { recursive: true });
      put(newest, algorithm, { kid: 'newest' });
      expect((await ring.active(algorithm))?.kid).toBe('newest');
      expect(await kids()).toHaveLength(4);
    },
  );

  test('are read from each file once, unless the file was away in the meantime', async () => {
    const { ring, kids, put, directory } = createKeys();
    put('1000-a.EdDSA.json', ED);
    put('2000-b.EdDSA.json', ED);
    await kids();
    await writeFile(path.join(directory, '1000-a.EdDSA.json'), 'damaged');
    put('3000-c.EdDSA.json', ED);
    expect(await kids()).toEqual(['3000-c', '2000-b', '1000-a']);
    await rm(path.join(directory, '1000-a.EdDSA.json'));
    expect(await kids()).toEqual(['3000-c', '2000-b']);
    put('1000-a.EdDSA.json', ED, { kid: 'another' });
    expect((await ring.all()).map(({ kid }) => kid)).toEqual(['3000-c', '2000-b', 'another']);
  });
});

describe('lost keys', () => {
  // @shows AS-11.4
  test('are refused while their directory is away, empty or unreadable, until it is back', async () => {
    const { ring, kids, put, directory } = createKeys();
    put('1000-a.EdDSA.json', ED);
    expect(await kids()).toEqual(['1000-a']);
    const away = `${directory}-away`;
    await rename(directory, away);
    await lost(ring.all());
    await mkdir(directory);
    await lost(ring.published());
    await rm(directory, { recursive: true });
    await writeFile(directory, '');
    await expect(ring.active(ED)).rejects.toMatchObject({
      message: `The signing keys that were in ${directory} are gone, or cannot be read`,
      cause: { code: 'ENOTDIR' },
    });
    await rm(directory);
    await rename(away, directory);
    expect((await ring.published()).map(({ kid }) => kid)).toEqual(['1000-a']);
  });

  // @shows AS-11.4, AS-11.18
  test('do not matter if a KeySigner has their algorithm', async () => {
    const withoutFile = async (algorithm: 'EdDSA' | 'ES256') => {
      const keys = createKeys({ signers: [signerOf(algorithm, 'x')] });
      keys.put('1000-a.EdDSA.json', ED);
      expect(await keys.kids()).toEqual(['x', '1000-a']);
      await rm(path.join(keys.directory, '1000-a.EdDSA.json'));
      return keys;
    };
    expect(await (await withoutFile('EdDSA')).kids()).toEqual(['x']);
    await lost((await withoutFile('ES256')).ring.all());
  });

  // @shows AS-11.23
  test('are noticed without any earlier key if access needs one; the store is asked once a minute', async () => {
    let asked = 0;
    let isNeeded = false;
    const { ring, advance, put } = createKeys({
      isNeeded: async () => {
        asked += 1;
        return isNeeded;
      },
    });
    expect(await ring.published()).toEqual([]);
    isNeeded = true;
    expect(await ring.active()).toBe(null);
    advance(59.999);
    expect(await ring.published()).toEqual([]);
    expect(asked).toBe(1);
    advance(0.001);
    await lost(ring.published());
    await lost(ring.active());
    expect(asked).toBe(2);
    // The clock was set back.
    advance(-3600);
    isNeeded = false;
    expect(await ring.published()).toEqual([]);
    expect(asked).toBe(3);
    put('1000-a.EdDSA.json', ED);
    advance(3600);
    expect(await ring.published()).toHaveLength(1);
    expect(asked).toBe(3);
  });

  // @shows AS-11.23
  test('are looked for again if the store did not answer', async () => {
    const answers = [() => Promise.reject(new Error('away')), async () => false];
    const { ring } = createKeys({ isNeeded: async () => answers.shift()?.() ?? false });
    await expect(ring.published()).rejects.toThrow('away');
    expect(await ring.published()).toEqual([]);
    expect(answers).toEqual([]);
  });

  test.each<[what: string, newer: 'resolve' | 'reject', asked: number]>([
    ['the newer answer counts', 'resolve', 2],
    ['the store is asked again if both fail', 'reject', 3],
  ])('are looked for twice if the store is slow: %s', async (_, newer, expected) => {
    const unhandled: unknown[] = [];
    const notice = (error: unknown) => void unhandled.push(error);
    process.on('unhandledRejection', notice);
    onTestFinished(() => void process.off('unhandledRejection', notice));
    const answers = [Promise.withResolvers<boolean>(), Promise.withResolvers<boolean>()];
    let asked = 0;
    const { ring, advance } = createKeys({
      isNeeded: () => {
        asked += 1;
        return answers[asked - 1]?.promise ?? Promise.resolve(false);
      },
    });
    const published: Promise<unknown>[] = [];
    for (const before of [0, 60]) {
      advance(before);
      published.push(ring.published().catch((error: unknown) => error));
      await expect.poll(() => asked, { interval: 1 }).toBe(published.length);
    }
    const [first, second] = answers;
    if (newer === 'resolve') second?.resolve(false);
    else second?.reject(new Error('second'));
    await published[1];
    first?.reject(new Error('first'));
    expect(await published[0]).toEqual(new Error('first'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(await ring.published()).toEqual([]);
    expect([asked, unhandled]).toEqual([expected, []]);
  });
});

describe('the description of the keys', () => {
  // @shows AS-11.15
  test('has the state and the times of each key, as far as they are known', async () => {
    const { ring, put, now, directory, advance } = createKeys();
    const margin = 1000 + (LIFETIME + 905) * 1000;
    const staged = { kid: 'next', created_at: now() - 5, signs_from: now() + 60_000 };
    put('0-next-d.EdDSA.json', ED, staged);
    put('3000-c.EdDSA.json', ED, { kid: 'signs' });
    put('2500-x.ES256.json', 'ES256', { kid: 'other' });
    put('2000-b.EdDSA.json', ED, { kid: 'old' });
    put('1000-a.EdDSA.json', ED, { kid: 'older' });
    put('0-held.EdDSA.json', ED, { kid: 'held' });
    const common = { algorithm: ED, retiredAt: null, removableAt: null };
    expect(await ring.list()).toEqual([
      {
        ...common,
        kid: 'next',
        createdAt: now() - 5,
        state: 'staged',
        signsFrom: now() + 60_000,
        file: path.join(directory, '0-next-d.EdDSA.json'),
      },
      {
        ...common,
        kid: 'signs',
        createdAt: 3000,
        state: 'signing',
        signsFrom: 3000,
        file: path.join(directory, '3000-c.EdDSA.json'),
      },
      {
        ...common,
        kid: 'other',
        algorithm: 'ES256',
        createdAt: 2500,
        state: 'signing',
        signsFrom: 2500,
        file: path.join(directory, '2500-x.ES256.json'),
      },
      {
        kid: 'old',
        algorithm: ED,
        createdAt: 2000,
        state: 'retired',
        signsFrom: 2000,
        retiredAt: 3000,
        removableAt: 3000 + margin,
        file: path.join(directory, '2000-b.EdDSA.json'),
      },
      {
        kid: 'older',
        algorithm: ED,
        createdAt: 1000,
        state: 'retired',
        signsFrom: 1000,
        retiredAt: 2000,
        removableAt: 2000 + margin,
        file: path.join(directory, '1000-a.EdDSA.json'),
      },
      {
        ...common,
        kid: 'held',
        createdAt: null,
        state: 'published',
        signsFrom: null,
        file: path.join(directory, '0-held.EdDSA.json'),
      },
    ]);
    // A key that was staged and then replaced is retired, even before its file is renamed.
    advance(120);
    put(`${now()}-e.EdDSA.json`, ED, { kid: 'newest' });
    expect((await ring.list()).slice(0, 2)).toMatchObject([
      { kid: 'newest', state: 'signing' },
      { kid: 'next', state: 'retired', retiredAt: now(), removableAt: now() + margin },
    ]);
  });

  // @shows AS-11.20
  test('has no times of a KeySigner that are unknown, and no time from which it is removed', async () => {
    const signers = [signerOf(ED, 'first'), signerOf(ED, 'second', { signsFrom: 5000 })];
    const { ring, put } = createKeys({ signers });
    put('1000-a.EdDSA.json', ED);
    expect(await ring.list()).toMatchObject([
      { kid: 'second', state: 'signing', createdAt: null, signsFrom: 5000, file: null },
      {
        kid: 'first',
        state: 'retired',
        createdAt: null,
        signsFrom: null,
        retiredAt: 5000,
        removableAt: null,
        file: null,
      },
      { kid: '1000-a', state: 'retired', retiredAt: null, removableAt: null },
    ]);
    expect((await ring.all()).map(({ isStaged }) => isStaged)).toEqual([true, false, false]);
  });
});

describe('generate', () => {
  // @shows AS-11.17
  test('creates a key that signs at once, and says who did it', async () => {
    const { ring, put, names, events, now, advance } = createKeys();
    put('1000-a.EdDSA.json', ED);
    put('0-next-b.EdDSA.json', ED, { signs_from: now() + 3_600_000 });
    await ring.all();
    advance(1);
    const key = await ring.generate(ED, { by: 'console' });
    expect(key).toMatchObject({ algorithm: ED, signsFrom: now(), isStaged: false });
    expect(names()).toContain(`${now()}-${key.kid}.EdDSA.json`);
    expect((await ring.active(ED))?.kid).toBe(key.kid);
    expect(events).toStrictEqual([
      { type: 'signing_key_created', kid: key.kid, algorithm: ED, by: 'console' },
    ]);
  });

  test('creates a key that signs, even if the newest key is from a clock that is ahead', async () => {
    const ahead = 9_000_000_000_000;
    const { ring, put } = createKeys({ signers: [signerOf('ES256', 'x')] });
    put(`${ahead}-a.EdDSA.json`, ED);
    const { kid, signsFrom } = await ring.generate(ED);
    expect(signsFrom).toBe(ahead + 1);
    expect((await ring.active(ED))?.kid).toBe(kid);
  });

  test('is refused for an unknown algorithm, and for one of a KeySigner', async () => {
    const { ring, names } = createKeys({ signers: [signerOf('ES256', 'x')] });
    await expect(ring.generate('PS256' as never)).rejects.toThrow(
      new OutOfRangeError('The algorithm of a signing key must be one of RS256, ES256, EdDSA'),
    );
    const refused = ring.generate('ES256');
    await expect(refused).rejects.toBeInstanceOf(KeyRotationError);
    await expect(refused).rejects.toMatchObject({
      name: 'KeyRotationError',
      message:
        'A KeySigner already signs with ES256, so a key file for this algorithm would not be used',
    });
    expect(names()).toEqual([]);
    await ring.generate(ED);
    expect(names()).toHaveLength(1);
  });

  // @shows AS-11.12
  test('changes nothing if the directory cannot be written, and says why', async () => {
    const { ring, names, events, directory } = createKeys();
    await changeOpenFiles('sync', (isFolder) => {
      if (isFolder) throw systemError('EROFS');
    });
    await expect(ring.generate(ED)).rejects.toMatchObject({
      name: 'KeyRotationError',
      message: `The key directory ${directory} cannot be written (EROFS: it is mounted read-only): no key was created`,
      cause: { code: 'EROFS' },
    });
    expect([names(), events]).toEqual([[], []]);
  });
});

describe('prune', () => {
  // @shows AS-5.14, AS-11.17, AS-13.7
  test('removes the keys that stopped signing long enough ago, and says who did it', async () => {
    const { ring, put, names, events, now, advance } = createKeys();
    put('1000-a.EdDSA.json', ED);
    put(`${now()}-b.EdDSA.json`, ED);
    put(`${now() + 1}-c.EdDSA.json`, ED);
    // Keys of other algorithms are not replaced by these.
    put('1000-rsa.json', 'RS256');
    advance(LIFETIME + 0.999);
    expect(await ring.prune(LIFETIME)).toEqual([]);
    advance(0.001);
    expect(await ring.prune(LIFETIME, { by: 'console' })).toEqual(['1000-a']);
    expect(names()).not.toContain('1000-a.EdDSA.json');
    expect(names()).toHaveLength(3);
    expect(events).toStrictEqual([
      { type: 'signing_key_removed', kid: '1000-a', algorithm: ED, by: 'console' },
    ]);
    advance(LIFETIME);
    expect(await ring.prune(LIFETIME * 2)).toEqual([]);
    expect(await ring.prune(LIFETIME)).toHaveLength(1);
    expect(await ring.prune(LIFETIME)).toEqual([]);
    expect(names()).toHaveLength(2);
  });

  test.each([LIFETIME - 1, LIFETIME + 0.5, Number.NaN, -1])(
    'is refused with an age below the lifetime of ID tokens, or a fraction: %d',
    async (age) => {
      const { ring, put, names } = createKeys();
      put('1-a.EdDSA.json', ED);
      put('2-b.EdDSA.json', ED);
      await expect(ring.prune(age)).rejects.toThrow(
        new OutOfRangeError(
          `The age must be at least oauth_server:id_token_ttl, ${LIFETIME} seconds`,
        ),
      );
      expect(names()).toHaveLength(2);
    },
  );

  test('is refused with an age of more than a century', async () => {
    const { ring } = createKeys();
    expect(await ring.prune(CENTURY)).toEqual([]);
    await expect(ring.prune(CENTURY + 1)).rejects.toThrow(
      new OutOfRangeError(`The age must be at most ${CENTURY} seconds (100 years)`),
    );
  });

  test('removes nothing from a directory that does not exist', async () => {
    const { ring, directory } = createKeys();
    await rm(directory, { recursive: true });
    expect(await ring.prune(LIFETIME)).toEqual([]);
  });

  // @shows AS-11.20
  test('removes keys that a KeySigner has replaced, if it is known when, and never a KeySigner', async () => {
    const since = (signsFrom?: number) =>
      createKeys({
        signers: [
          signerOf(ED, 'newer', { signsFrom: 1_600_000_000_000 }),
          signerOf(ED, 'older', signsFrom === undefined ? {} : { signsFrom }),
        ],
      });
    const unknown = since();
    unknown.put('1000-a.EdDSA.json', ED);
    expect(await unknown.ring.prune(LIFETIME)).toEqual([]);
    expect(unknown.names()).toEqual(['1000-a.EdDSA.json']);
    const known = since(1_500_000_000_000);
    known.put('1000-a.EdDSA.json', ED);
    expect(await known.ring.prune(LIFETIME)).toEqual(['1000-a']);
    expect(known.names()).toEqual([]);
  });

  // @shows AS-11.13
  test('keeps a key that an operator publishes before it signs', async () => {
    const { ring, put, names, advance } = createKeys();
    put('0-held.EdDSA.json', ED);
    put('1000-a.EdDSA.json', ED);
    put('2000-b.EdDSA.json', ED);
    advance(LIFETIME);
    expect(await ring.prune(LIFETIME)).toEqual(['1000-a']);
    expect(names()).toEqual(['0-held.EdDSA.json', '2000-b.EdDSA.json']);
  });

  // @shows AS-11.17
  test('reports no event for a file that another process removes at the same time', async () => {
    const { ring, put, names, events } = createKeys();
    put('1000-a.EdDSA.json', ED);
    put('2000-b.EdDSA.json', ED);
    changeFile('unlink', (original) => async (file: string) => {
      await rm(file);
      return original(file);
    });
    await ring.prune(LIFETIME);
    expect([names(), events]).toEqual([['2000-b.EdDSA.json'], []]);
  });

  // @shows AS-11.12
  test.each([
    ['a file cannot be removed', async () => changeFile('unlink', () => () => fails('EIO'))],
    ['the disk fails', () => changeOpenFiles('sync', () => fails('EIO'))],
  ])('says that old keys remain if %s', async (_, change) => {
    const { ring, put, directory } = createKeys();
    put('1000-a.EdDSA.json', ED);
    put('2000-b.EdDSA.json', ED);
    await change();
    await expect(ring.prune(LIFETIME)).rejects.toMatchObject({
      name: 'KeyRotationError',
      message: `The key directory ${directory} cannot be written (EIO): old keys were not removed`,
    });
  });
});
