import { generateKeyPairSync } from 'node:crypto';
import { readdirSync, readlinkSync } from 'node:fs';
import { mkdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ALGORITHMS } from '../../../../test/support/algorithms.ts';
import { createKeys, privateJwk } from '../../../../test/support/key-ring.ts';
import {
  actAs,
  changeFile,
  changeFileSync,
  changeOpenFiles,
  systemError,
} from '../../../../test/support/node-parts.ts';
import { KeyFiles } from './key-files.ts';
import { newestFirst } from './key-names.ts';
import type { NewKey } from './key-pairs.ts';
import { KeysLostError } from './signing-key.ts';

/** The id of a user that does not run the tests. */
const OTHER = (process.getuid?.() ?? 0) + 1;
const NEW: NewKey = { kid: 'new', algorithm: 'EdDSA', jwk: privateJwk('EdDSA') };
const NAME = '1000-new.EdDSA.json';

/** Makes this file appear to belong to another user. */
function giveAway(...names: readonly string[]): void {
  changeFile('lstat', (original) => async (file: string) => {
    const found = await original(file);
    return names.includes(path.basename(file)) ? Object.assign(found, { uid: OTHER }) : found;
  });
}

describe('the name of a key file', () => {
  test.each([
    ['1000-a.json', true],
    ['1000-a_-B7.ES256.json', true],
    ['0-next-a.EdDSA.json', true],
    ['1000-a.RS256.json', false],
    ['1000-a.PS256.json', false],
    ['1000-a.ES256.json.bak', false],
    ['x1000-a.json', false],
    ['1000-.json', false],
    ['notes.txt', false],
    ['.draft-0', false],
  ])('%s: %j', (name, isKey) => {
    expect(new KeyFiles('/', ALGORITHMS).has(name)).toBe(isKey);
  });

  test('decides which files are listed, and a missing directory has none', async () => {
    const { files, directory, put } = createKeys();
    put('1000-a.json', 'EdDSA');
    put('notes.txt', 'EdDSA');
    expect(await files.names()).toEqual(['1000-a.json']);
    await rm(directory, { recursive: true });
    expect(await files.names()).toEqual([]);
    await writeFile(directory, '');
    await expect(files.names()).rejects.toThrow('ENOTDIR');
  });

  test('orders the keys: first by its number, then by the rest', () => {
    const sorted = ['20-a.json', '9-z.json', '9-b.json', '9-a.json', '0-z.json'];
    for (const names of [sorted, sorted.toReversed()])
      expect([...names].sort(newestFirst)).toEqual([
        '20-a.json',
        '9-z.json',
        '9-b.json',
        '9-a.json',
        '0-z.json',
      ]);
  });
});

describe('the content of a key file', () => {
  const ed = privateJwk('EdDSA');
  const ec = privateJwk('ES256');
  const rsa = privateJwk('RS256');
  const small = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({
    format: 'jwk',
  });

  test.each([
    ['an EdDSA key', 'a.EdDSA.json', ed, 'EdDSA'],
    ['an ES256 key', 'a.ES256.json', ec, 'ES256'],
    ['an RS256 key', 'a.json', rsa, 'RS256'],
    ['an algorithm and a use', 'a.EdDSA.json', { ...ed, alg: 'EdDSA', use: 'sig' }, 'EdDSA'],
  ])('may be %s', async (_, name, jwk, algorithm) => {
    const { files, put } = createKeys();
    put(`1000-${name}`, 'EdDSA', { kty: undefined, x: undefined, crv: undefined, ...jwk });
    expect(await files.read(`1000-${name}`)).toMatchObject({
      kid: '1000-a',
      algorithm,
      signsFrom: 1000,
      isStaged: false,
    });
  });

  const wrong = (kind: string) => `it is not a private ${kind} key with a kid`;
  test.each<[what: string, name: string, changes: object, problem: string]>([
    ['no kid', 'a.EdDSA.json', { kid: undefined }, wrong('Ed25519')],
    ['a number as kid', 'a.EdDSA.json', { kid: 7 }, wrong('Ed25519')],
    ['an empty kid', 'a.EdDSA.json', { kid: '' }, wrong('Ed25519')],
    ['no private part', 'a.EdDSA.json', { d: undefined }, wrong('Ed25519')],
    ['no public part', 'a.EdDSA.json', { x: undefined }, wrong('Ed25519')],
    ['another curve', 'a.EdDSA.json', { crv: 'Ed448' }, wrong('Ed25519')],
    ['another type', 'a.EdDSA.json', { kty: 'EC' }, wrong('Ed25519')],
    ['another type and curve', 'a.EdDSA.json', ec, wrong('Ed25519')],
    ['another type, which has no curve', 'a.json', ec, wrong('RSA')],
    ['the use of encryption', 'a.EdDSA.json', { use: 'enc' }, 'it is not for signing with EdDSA'],
    ['another algorithm', 'a.EdDSA.json', { alg: 'ES256' }, 'it is not for signing with EdDSA'],
    [
      'the public part of another key',
      'a.EdDSA.json',
      { x: privateJwk('EdDSA').x },
      'its public part does not match its private part',
    ],
    [
      'the name of a staged key, but no time',
      '0-next-a.EdDSA.json',
      {},
      'its signs_from, the time from which it signs, is missing or not a whole number',
    ],
    [
      'a fraction of a millisecond as its time',
      '0-next-a.EdDSA.json',
      { signs_from: 1.5 },
      'its signs_from, the time from which it signs, is missing or not a whole number',
    ],
  ])(
    'is refused with %s, and the directory does not count as lost',
    async (_, name, changes, why) => {
      const { files, directory, put } = createKeys();
      const file = name.startsWith('0-') ? name : `1000-${name}`;
      put(file, 'EdDSA', changes);
      const error: unknown = await files.read(file).catch((found: unknown) => found);
      expect(error).not.toBeInstanceOf(KeysLostError);
      expect(error).toMatchObject({
        message: `The signing key ${path.join(directory, file)} cannot be read`,
        cause: { message: why },
      });
    },
  );

  test('is refused if the key has less than 2048 bits', async () => {
    const { files, put } = createKeys();
    put('1000-a.json', 'RS256', small);
    await expect(files.read('1000-a.json')).rejects.toMatchObject({
      cause: { message: 'it has less than 2048 bits' },
    });
  });

  test('never appears in an error, because it could be any secret', async () => {
    const { files, directory } = createKeys();
    await writeFile(path.join(directory, '1000-a.json'), '{"password":');
    const error: unknown = await files.read('1000-a.json').catch((found: unknown) => found);
    expect(error).toMatchObject({ cause: { message: 'it is not JSON' } });
    expect(inspect(error)).not.toContain('password');
  });

  // @shows AS-11.4
  test('counts as lost if the system cannot read it, for which it names the reason', async () => {
    const { files, directory } = createKeys();
    await mkdir(path.join(directory, '1000-a.json'));
    const error: unknown = await files.read('1000-a.json').catch((found: unknown) => found);
    expect(error).toBeInstanceOf(KeysLostError);
    expect(error).toMatchObject({
      name: 'KeysLostError',
      status: 503,
      cause: { code: 'EISDIR' },
    });
  });
});

describe('the owners of key files', () => {
  test('are not reported as foreign if they are the owner of the directory', async () => {
    const { files, directory, put } = createKeys();
    put('1000-a.json', 'EdDSA');
    const { uid, gid } = await stat(directory);
    expect(await files.owners()).toMatchObject({ owner: { uid, gid }, foreign: [] });
  });

  // @shows AS-11.16
  test('are reported if they differ, in the order of the names', async () => {
    const { files, put } = createKeys();
    const names = ['3000-c.json', '1000-a.json', '2000-b.json', '4000-own.json'];
    for (const name of [...names, '5000-notes.txt']) put(name, 'EdDSA');
    changeFile('readdir', () => async () => [...names, '5000-notes.txt']);
    giveAway(...names.slice(0, 3), '5000-notes.txt');
    expect((await files.owners()).foreign).toEqual([
      { name: '1000-a.json', uid: OTHER },
      { name: '2000-b.json', uid: OTHER },
      { name: '3000-c.json', uid: OTHER },
    ]);
  });

  test('are not reported for a file that is removed at the same time', async () => {
    const { files, put } = createKeys();
    put('1000-a.json', 'EdDSA');
    put('2000-b.json', 'EdDSA');
    giveAway('2000-b.json');
    changeFile('lstat', (original) => async (file: string) => {
      if (file.endsWith('1000-a.json')) throw systemError('ENOENT');
      return original(file);
    });
    expect((await files.owners()).foreign).toEqual([{ name: '2000-b.json', uid: OTHER }]);
  });

  test('are none without a directory', async () => {
    const { files, directory } = createKeys();
    await rm(directory, { recursive: true });
    expect(await files.owners()).toStrictEqual({ owner: null, foreign: [] });
    await writeFile(directory, '');
    const below = new KeyFiles(path.join(directory, 'keys'), ALGORITHMS);
    expect(await below.owners()).toStrictEqual({ owner: null, foreign: [] });
  });
});

describe('a new key file', () => {
  // @shows AS-4.8
  test('has the name and the content of its key, and only its owner can read it', async () => {
    const { files, directory, names } = createKeys();
    await files.write(NEW, NAME);
    expect(names()).toEqual([NAME]);
    expect((await stat(path.join(directory, NAME))).mode & 0o777).toBe(0o600);
    expect((await files.read(NAME)).publicJwk).toEqual({
      kty: 'OKP',
      crv: 'Ed25519',
      x: NEW.jwk.x,
      kid: 'new',
      alg: 'EdDSA',
      use: 'sig',
    });
  });

  /** Returns how many files in this folder are open, and how often the folder itself is. */
  const openIn = (folder: string) =>
    readdirSync('/proc/self/fd').filter((name) => {
      try {
        return readlinkSync(`/proc/self/fd/${name}`).startsWith(folder);
      } catch {
        return false;
      }
    }).length;
  /** Only Linux has a folder with the open files. */
  const SYSTEMS = process.platform === 'linux' ? ['linux'] : [];

  // @shows AS-11.22
  test.each(SYSTEMS)(
    'belongs to the owner of the directory if root creates it, on %s',
    async () => {
      const { files, directory } = createKeys();
      actAs(0);
      changeFileSync('fstatSync', (original) => (descriptor: number) => {
        const found = original(descriptor);
        return found.isDirectory() ? { uid: OTHER, gid: OTHER - 1 } : found;
      });
      const given: unknown[][] = [];
      changeFileSync(
        'fchownSync',
        () =>
          (_: number, ...owner: unknown[]) =>
            void given.push(owner),
      );
      await files.write(NEW, NAME);
      expect(given).toEqual([[OTHER, OTHER - 1]]);
      changeFileSync('fchownSync', () => () => {
        throw systemError('EPERM');
      });
      await expect(files.write(NEW, '2000-b.json')).rejects.toMatchObject({
        name: 'NotGivenError',
        uid: OTHER,
      });
      expect(readdirSync(directory)).toEqual([NAME]);
    },
  );

  test.each(SYSTEMS)('leaves no file open, even if root creates it, on %s', async () => {
    const { files, directory } = createKeys();
    actAs(0);
    await files.write(NEW, NAME);
    await files.rename(NAME, '9-a.EdDSA.json');
    expect(openIn(directory)).toBe(0);
  });

  // @shows AS-11.12
  test('is not left behind if it cannot be written, renamed or kept on disk', async () => {
    const { files, names } = createKeys();
    const fails = (code: string) => expect(files.write(NEW, NAME)).rejects.toThrow(code);
    await changeOpenFiles('sync', (isFolder) => {
      if (isFolder) throw systemError('EIO');
    });
    await fails('EIO');
    expect(names()).toEqual([]);
    changeFile('rename', () => () => Promise.reject(systemError('EXDEV')));
    await fails('EXDEV');
    expect(names()).toEqual([]);
    await changeOpenFiles('writeFile', () => {
      throw systemError('ENOSPC');
    });
    await fails('ENOSPC');
    expect(names()).toEqual([]);
  });

  // @shows AS-11.12
  test('gets its name only if no other file has it, and no process has removed the draft', async () => {
    const { files, directory, names, put } = createKeys();
    put('1000-a.json', 'EdDSA');
    const draft = await files.draft(NEW);
    expect(await draft.placeOnce('1000-a.json')).toBe(false);
    expect(await draft.placeOnce('2000-b.json')).toBe(true);
    const [own = ''] = names().filter((name) => name.startsWith('.draft-'));
    await rm(path.join(directory, own));
    expect(await draft.placeOnce('3000-c.json')).toBe(false);
    changeFile('link', () => () => Promise.reject(systemError('EPERM')));
    await expect(draft.placeOnce('3000-c.json')).rejects.toThrow('EPERM');
    await draft.discard();
    expect(names()).toEqual(['1000-a.json', '2000-b.json']);
  });
});

describe('a change of the directory', () => {
  test.each(['EACCES', 'EBADF', 'EINVAL', 'EISDIR', 'EPERM'])(
    'succeeds on a system that cannot write a folder to disk: %s',
    async (code) => {
      const { files } = createKeys();
      await changeOpenFiles('sync', () => {
        throw systemError(code);
      });
      await expect(files.sync()).resolves.toBeUndefined();
    },
  );

  test('fails if the disk fails', async () => {
    const { files } = createKeys();
    await changeOpenFiles('sync', () => {
      throw systemError('EIO');
    });
    await expect(files.sync()).rejects.toThrow('EIO');
  });

  test('that removes a file says whether the file existed', async () => {
    const { files, directory, put } = createKeys();
    put('1000-a.json', 'EdDSA');
    await mkdir(path.join(directory, '2000-b.json'));
    expect(await files.remove('1000-a.json')).toBe(true);
    expect(await files.remove('1000-a.json')).toBe(false);
    await expect(files.remove('2000-b.json')).rejects.toMatchObject({ syscall: 'unlink' });
  });

  test('that renames a file keeps a name that another process has taken, and ends if it is gone', async () => {
    const { files, names, put } = createKeys();
    put('0-next-a.json', 'EdDSA');
    put('1000-a.json', 'EdDSA');
    await files.rename('0-next-a.json', '1000-a.json');
    expect(names()).toEqual(['1000-a.json']);
    await files.rename('0-next-a.json', '2000-a.json');
    expect(names()).toEqual(['1000-a.json']);
    await files.rename('1000-a.json', '2000-a.json');
    expect(names()).toEqual(['2000-a.json']);
  });

  test('removes drafts that are older than an hour, and nothing else', async () => {
    const { files, directory, names, put } = createKeys();
    const draft = (letter: string) => `.draft-${letter.repeat(32)}`;
    const now = 2_000_000_000_000;
    const ages = { a: 3_600_001, b: 3_600_000, c: 5 };
    for (const [letter, age] of Object.entries(ages)) {
      put(draft(letter), 'EdDSA');
      await utimes(path.join(directory, draft(letter)), now / 1000, (now - age) / 1000);
    }
    put('1000-a.json', 'EdDSA');
    await utimes(path.join(directory, '1000-a.json'), 1, 1);
    await files.removeLeftDrafts(now);
    expect(names()).toEqual([draft('b'), draft('c'), '1000-a.json']);
    changeFile('stat', () => () => Promise.reject(systemError('ENOENT')));
    await files.removeLeftDrafts(now * 2);
    expect(names()).toHaveLength(3);
  });
});
