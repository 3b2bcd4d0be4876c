import { existsSync, linkSync, writeFileSync } from 'node:fs';
import { rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { OutOfRangeError } from '@portico/sql';
import { describe, expect, test } from 'vitest';
import {
  createKeys,
  LIFETIME,
  privateJwk,
  signerOf,
  type TestKeys,
} from '../../../../test/support/key-ring.ts';
import {
  actAs,
  changeFile,
  changeOpenFiles,
  systemError,
} from '../../../../test/support/node-parts.ts';
import type { RotationOptions } from './rotation-options.ts';
import { STAGED_FOR } from './times.ts';

const ED = 'EdDSA';
const CENTURY = 3_155_760_000;
const DAY = 86_400;
const NOTHING = { created: [], staged: [], removed: [] };
const BY = { provider: 'accounts', id: 'the administrator' };

/** Keys with one key for EdDSA, which has been signing for a day. */
function withKey(options: Parameters<typeof createKeys>[0] = {}): TestKeys {
  const keys = createKeys(options);
  keys.put('1000-a.EdDSA.json', ED, { kid: 'old' });
  return keys;
}

const states = async ({ ring }: TestKeys) =>
  (await ring.list()).map(({ kid, state }) => `${kid} ${state}`);

describe('a rotation', () => {
  // @shows AS-11.10, AS-11.11, AS-11.12, AS-11.13, AS-11.17
  test('publishes the next key, signs with it later, names it for good, and removes the old key', async () => {
    const keys = withKey();
    const { ring, names, events, now, advance, directory } = keys;
    const first = await ring.rotate({ by: BY });
    const kid = first.staged[0]?.kid ?? '';
    const [file = ''] = names();
    const staged = {
      kid,
      algorithm: ED,
      createdAt: now(),
      state: 'staged',
      signsFrom: now() + STAGED_FOR * 1000,
      retiredAt: null,
      removableAt: null,
      file: path.join(directory, file),
    };
    expect(first).toMatchObject({ created: [], staged: [staged], removed: [] });
    expect(first.keys.map((key) => key.kid)).toEqual([kid, 'old']);
    expect(file).toMatch(/^0-next-[\w-]{43}\.EdDSA\.json$/);
    expect(names()).toEqual([file, '1000-a.EdDSA.json']);
    expect(await ring.rotate()).toMatchObject(NOTHING);

    advance(STAGED_FOR);
    expect(await states(keys)).toEqual([`${kid} signing`, 'old retired']);
    expect(await ring.rotate({ ifOlderThan: DAY })).toMatchObject(NOTHING);
    expect(names()).toEqual(['1000-a.EdDSA.json', `${now()}-${kid}.EdDSA.json`]);
    expect(await states(keys)).toEqual([`${kid} signing`, 'old retired']);

    advance(LIFETIME + STAGED_FOR + 0.999);
    expect(await ring.rotate({ ifOlderThan: DAY })).toMatchObject(NOTHING);
    advance(0.001);
    expect(await ring.rotate({ ifOlderThan: DAY })).toMatchObject({ ...NOTHING, removed: ['old'] });
    expect(await states(keys)).toEqual([`${kid} signing`]);
    expect(events).toStrictEqual([
      { type: 'signing_key_staged', kid, algorithm: ED, by: BY },
      { type: 'signing_key_removed', kid: 'old', algorithm: ED },
    ]);
  });

  // @shows AS-11.10
  test('replaces the keys of all algorithms, or of one, as soon as they are old enough', async () => {
    const { ring, put, now } = createKeys();
    const ages = { EdDSA: 60_000, ES256: 59_999 } as const;
    put(`${now() - ages.EdDSA}-a.EdDSA.json`, ED);
    put(`${now() - ages.ES256}-a.ES256.json`, 'ES256');
    const staged = async (options: RotationOptions) =>
      (await ring.rotate(options)).staged.map(({ algorithm }) => algorithm);
    expect(await staged({ algorithm: 'ES256', ifOlderThan: 60 })).toEqual([]);
    expect(await staged({ ifOlderThan: 60 })).toEqual([ED]);
    expect(await staged({})).toEqual(['ES256']);
    expect(await staged({})).toEqual([]);
    const other = createKeys();
    other.put('1000-a.EdDSA.json', ED);
    other.put('1000-a.ES256.json', 'ES256');
    expect(await other.ring.rotate({ algorithm: ED })).toMatchObject({
      staged: [{ algorithm: ED }],
    });
    expect(await other.ring.rotate({ algorithm: 'ES256', stagedFor: 7200 })).toMatchObject({
      staged: [{ algorithm: 'ES256', signsFrom: other.now() + 7_200_000 }],
    });
  });

  test('stages a key that signs after the old key, even if the clock of another machine is ahead', async () => {
    const { ring, put } = createKeys();
    put('9000000000000-a.EdDSA.json', ED);
    const { staged } = await ring.rotate();
    expect(staged).toMatchObject([{ signsFrom: 9_000_000_000_001 }]);
  });

  // @shows AS-11.12
  test('stages nothing if another process has replaced the key in the meantime', async () => {
    let clockReads = 0;
    const replacing = '1700000000000-b.EdDSA.json';
    const keys = withKey({
      onClock: () => {
        clockReads += 1;
        // The first read is for the decision, and the second one while the new key is written.
        if (clockReads === 2) keys.put(replacing, ED);
      },
    });
    expect(await keys.ring.rotate()).toMatchObject(NOTHING);
    expect(keys.names()).toEqual(['1000-a.EdDSA.json', replacing]);
  });

  // @shows AS-11.12
  test('stages one key if several processes rotate at the same time', async () => {
    const one = withKey();
    const other = createKeys({ directory: one.directory });
    const all = await Promise.all([one, other, one, other].map(({ ring }) => ring.rotate()));
    expect(all.flatMap(({ staged }) => staged)).toHaveLength(1);
    expect(one.names()).toHaveLength(2);
  });

  // @shows AS-11.12
  test('removes drafts that a killed process left behind, also beside a KeySigner', async () => {
    const { ring, directory, names } = withKey({ signers: [signerOf('ES256', 'x')] });
    const draft = path.join(directory, `.draft-${'0'.repeat(32)}`);
    await writeFile(draft, '{');
    await utimes(draft, 1, 1);
    await ring.rotate({ ifOlderThan: CENTURY });
    expect(names()).toEqual(['1000-a.EdDSA.json']);
  });

  // @shows AS-11.12
  test('writes the directory to disk after its last change, also beside a KeySigner', async () => {
    const keys = withKey({ signers: [signerOf('ES256', 'x')] });
    const written: (readonly string[])[] = [];
    await changeOpenFiles('sync', (isFolder) => {
      if (isFolder) written.push(keys.names());
    });
    await keys.ring.rotate();
    expect(written.at(-1)).toEqual(keys.names());
    keys.advance(STAGED_FOR);
    await keys.ring.rotate({ ifOlderThan: DAY });
    expect(written.at(-1)).toEqual(keys.names());
  });

  // @shows AS-11.22
  test('leaves a staged key where it is if it cannot be read, or its kid is no file name', async () => {
    const { ring, put, names, directory, now, advance } = withKey();
    const { staged } = await ring.rotate();
    const [name = ''] = names();
    advance(STAGED_FOR);
    put(name, ED, { kid: '/../outside', signs_from: now() });
    await ring.rotate({ ifOlderThan: DAY });
    expect(names()).toEqual([name, '1000-a.EdDSA.json']);
    expect(existsSync(path.join(directory, '..', 'outside.EdDSA.json'))).toBe(false);
    const other = createKeys({ directory });
    put(name, ED, { kid: '' });
    expect(await other.ring.rotate()).toMatchObject(NOTHING);
    expect(names()).toEqual([name, '1000-a.EdDSA.json']);
    expect(staged).toHaveLength(1);
  });

  // @shows AS-11.9, AS-11.22
  test.each(['next.ES256', '/../outside'])(
    'never gives a staged key a file name for another algorithm or folder: its kid is %j',
    async (kid) => {
      const { ring, put, kids, names, now } = createKeys();
      put('1000-a.json', 'RS256', { kid: 'old' });
      put('0-next-b.json', 'RS256', { kid, signs_from: now() });
      expect(await ring.rotate({ ifOlderThan: DAY })).toMatchObject(NOTHING);
      expect(names()).toEqual(['0-next-b.json', '1000-a.json']);
      expect(await kids()).toEqual([kid, 'old']);
      expect((await ring.active())?.kid).toBe(kid);
      expect(await ring.active('ES256')).toBe(null);
    },
  );

  test.each<[options: RotationOptions, message: string]>([
    [{ now: true, ifOlderThan: 60 }, 'now cannot be combined with ifOlderThan or stagedFor'],
    [{ now: true, stagedFor: 7200 }, 'now cannot be combined with ifOlderThan or stagedFor'],
    [{ ifOlderThan: 0 }, `The age must be from 1 to ${CENTURY} seconds`],
    [{ ifOlderThan: 1.5 }, `The age must be from 1 to ${CENTURY} seconds`],
    [{ ifOlderThan: CENTURY + 1 }, `The age must be from 1 to ${CENTURY} seconds`],
    [
      { stagedFor: 904 },
      `The time that a key is staged for must be from 905 to ${CENTURY} seconds`,
    ],
    [
      { algorithm: 'PS256' as never },
      'The algorithm of a signing key must be one of RS256, ES256, EdDSA',
    ],
  ])('is refused with %j', async (options, message) => {
    const { ring, names } = withKey();
    await expect(ring.rotate(options)).rejects.toThrow(new OutOfRangeError(message));
    expect(names()).toEqual(['1000-a.EdDSA.json']);
  });

  test('accepts the shortest and the longest times', async () => {
    const { ring } = withKey();
    const accepted: readonly RotationOptions[] = [
      { ifOlderThan: 1 },
      { ifOlderThan: CENTURY },
      { stagedFor: STAGED_FOR },
      { stagedFor: CENTURY },
    ];
    for (const options of accepted) expect((await ring.rotate(options)).removed).toEqual([]);
  });

  test.each<[options: RotationOptions, message: string]>([
    [{}, 'There is no signing key to replace. First run npx portico oauth:server:setup'],
    [
      { algorithm: 'RS256' },
      'There is no signing key to replace. First run npx portico oauth:server:setup',
    ],
    [
      { algorithm: 'ES256', now: true },
      'There is no signing key for ES256 to replace. First run npx portico oauth:keys:generate --alg ES256',
    ],
  ])('is refused without a key to replace: %j', async (options, message) => {
    const { ring, put, directory } = createKeys();
    if (options.algorithm === undefined) await rm(directory, { recursive: true });
    else put('1000-a.EdDSA.json', ED);
    await expect(ring.rotate(options)).rejects.toMatchObject({ name: 'KeyRotationError', message });
  });
});

describe('a rotation beside a KeySigner', () => {
  // @shows AS-11.20
  test('changes nothing if only KeySigners sign, and cannot replace one', async () => {
    const { ring, directory, events } = createKeys({ signers: [signerOf('ES256', 'x')] });
    await rm(directory, { recursive: true });
    expect(await ring.rotate()).toMatchObject(NOTHING);
    expect(await ring.rotate({ ifOlderThan: DAY })).toMatchObject(NOTHING);
    for (const options of [{ algorithm: 'ES256' }, { now: true }] as const)
      await expect(ring.rotate(options)).rejects.toMatchObject({
        name: 'KeyRotationError',
        message:
          'A KeySigner signs the ID tokens, so there is no key file to replace. Pass another ' +
          'KeySigner to the server (docs/keys.md)',
      });
    expect(existsSync(directory)).toBe(false);
    expect(events).toEqual([]);
  });

  // @shows AS-11.20
  test('replaces only the key files of other algorithms', async () => {
    const later = signerOf(ED, 'later', { signsFrom: 8_000_000_000_000 });
    const { ring, put, kids } = withKey({ signers: [signerOf('ES256', 'x'), later] });
    put('1000-b.ES256.json', 'ES256', { kid: 'unused' });
    const { created, removed } = await ring.rotate({ now: true });
    expect(created).toMatchObject([{ algorithm: ED, state: 'signing' }]);
    expect(removed).toEqual(['old']);
    expect(new Set(await kids())).toEqual(new Set([created[0]?.kid, 'later', 'unused', 'x']));
    // A key for EdDSA is published already, and signs later.
    expect(await ring.rotate()).toMatchObject(NOTHING);
  });
});

describe('an immediate rotation', () => {
  // @shows AS-11.14, AS-11.17
  test('signs with a new key at once, and removes all other keys of its algorithm', async () => {
    const { ring, put, names, events, now, advance } = withKey();
    const { staged } = await ring.rotate();
    put('500-b.EdDSA.json', ED, { kid: 'older' });
    put('700-damaged.EdDSA.json', ED, { kid: '' });
    put('0-held.EdDSA.json', ED, { kid: 'held' });
    // Neither of these is replaced, and the older one may still be needed.
    const others = [`${now() - 2}-a.ES256.json`, `${now() - 1}-b.ES256.json`];
    for (const name of others) put(name, 'ES256');
    events.length = 0;
    advance(1);
    const {
      created,
      removed,
      staged: none,
    } = await ring.rotate({
      now: true,
      algorithm: ED,
      by: 'console',
    });
    const kid = created[0]?.kid ?? '';
    expect(created).toMatchObject([{ state: 'signing', algorithm: ED, signsFrom: now() }]);
    expect(none).toEqual([]);
    expect(new Set(removed)).toEqual(new Set([staged[0]?.kid, 'old', 'older', 'held']));
    expect(names()).toEqual([...others, `${now()}-${kid}.EdDSA.json`]);
    expect((await ring.active(ED))?.kid).toBe(kid);
    expect(events).toStrictEqual([
      { type: 'signing_key_created', kid, algorithm: ED, by: 'console' },
      ...removed.map((each) => ({
        type: 'signing_key_removed',
        kid: each,
        algorithm: ED,
        by: 'console',
      })),
    ]);
  });

  // @shows AS-11.14
  test('replaces the keys of all algorithms by default', async () => {
    const { ring, put, kids } = withKey();
    put('1000-b.ES256.json', 'ES256', { kid: 'other' });
    const { created, removed } = await ring.rotate({ now: true });
    expect(created.map(({ algorithm }) => algorithm).toSorted()).toEqual(['ES256', ED].toSorted());
    expect(removed.toSorted()).toEqual(['old', 'other']);
    expect((await kids()).toSorted()).toEqual(created.map(({ kid }) => kid).toSorted());
  });

  // @shows AS-11.14
  test('removes a key under both of its names, as after a crash during renaming', async () => {
    const { ring, names, directory, advance } = withKey();
    const { staged } = await ring.rotate();
    advance(STAGED_FOR);
    const { kid = '', signsFrom = 0 } = staged[0] ?? {};
    const [name = ''] = names();
    linkSync(path.join(directory, name), path.join(directory, `${signsFrom}-${kid}.EdDSA.json`));
    const { created, removed } = await ring.rotate({ now: true });
    expect(removed.toSorted()).toEqual([kid, 'old'].toSorted());
    expect(names()).toEqual([expect.stringContaining(created[0]?.kid ?? '-')]);
  });

  // @shows AS-11.14
  test('keeps a newer key, which another process has created at the same time', async () => {
    const later = '1700000060000-b.EdDSA.json';
    const keys = withKey();
    const content = JSON.stringify({ ...privateJwk(ED), kid: 'newer' });
    const sneak = () => writeFileSync(path.join(keys.directory, later), content);
    changeFile('rename', (original) => async (from: string, to: string) => {
      await original(from, to);
      sneak();
    });
    const { created, removed } = await keys.ring.rotate({ now: true });
    expect(removed).toEqual(['old']);
    expect(await keys.kids()).toEqual(['newer', created[0]?.kid]);
  });
});

describe('a rotation that cannot write', () => {
  const EITHER: readonly RotationOptions[] = [{}, { now: true }];
  const message = (directory: string, what: string) =>
    `The key directory ${directory} cannot be written (${what}`;

  // @shows AS-11.12
  test('creates none of the keys, and leaves no file behind', async () => {
    const { ring, put, names, events, directory } = withKey();
    put('1000-b.ES256.json', 'ES256');
    const before = names();
    let written = 0;
    await changeOpenFiles('writeFile', () => {
      written += 1;
      if (written % 2 === 0) throw systemError('ENOSPC');
    });
    for (const options of EITHER)
      await expect(ring.rotate(options)).rejects.toMatchObject({
        name: 'KeyRotationError',
        message: `${message(directory, 'ENOSPC: the disk is full')}): no key was replaced`,
        cause: { code: 'ENOSPC' },
      });
    expect([names(), events]).toEqual([before, []]);
  });

  // @shows AS-11.12
  test.each(EITHER)(
    'removes the new keys again if the disk does not keep them: %j',
    async (options) => {
      const { ring, put, names, events, directory } = withKey();
      put('1000-b.ES256.json', 'ES256');
      const before = names();
      await changeOpenFiles('sync', (isFolder) => {
        if (isFolder) throw systemError('EIO');
      });
      await expect(ring.rotate(options)).rejects.toMatchObject({
        name: 'KeyRotationError',
        message: `${message(directory, 'EIO')}): no key was replaced`,
      });
      expect([names(), events]).toEqual([before, []]);
    },
  );

  // @shows AS-11.14
  test('says that the new key signs if only the old files cannot be removed', async () => {
    const { ring, kids, directory } = withKey();
    changeFile('unlink', () => () => Promise.reject(systemError('EACCES')));
    await expect(ring.rotate({ now: true })).rejects.toMatchObject({
      name: 'KeyRotationError',
      message:
        `${message(directory, 'EACCES: this user has no permission')}): the new key signs now, ` +
        'but some old keys were not removed. Remove their files manually',
    });
    expect(await kids()).toHaveLength(2);
  });

  test('says that old keys remain if only they cannot be removed', async () => {
    const { ring, put, directory } = withKey();
    put('2000-b.EdDSA.json', ED);
    changeFile('unlink', () => () => Promise.reject(systemError('EIO')));
    await expect(ring.rotate({ ifOlderThan: CENTURY })).rejects.toMatchObject({
      name: 'KeyRotationError',
      message: `${message(directory, 'EIO')}): old keys were not removed. Run the command again`,
    });
  });
});

/** On other systems, root cannot create files in the directory of another user. */
const SYSTEMS = process.platform === 'linux' ? ['linux'] : [];

describe.each(SYSTEMS)('a rotation by root, on %s', () => {
  const SERVER = 4711;
  const ROOT = 0;

  /** A directory of this user, with a staged key and a signing key, of which root owns some. */
  async function owned(owner: number, ofRoot: RegExp): Promise<TestKeys> {
    const keys = withKey();
    await keys.ring.rotate();
    keys.advance(STAGED_FOR * 2);
    changeFile('stat', (original) => async (file: string) => {
      const found = await original(file);
      return file === keys.directory ? Object.assign(found, { uid: owner }) : found;
    });
    changeFile('lstat', (original) => async (file: string) => {
      const uid = ofRoot.test(path.basename(file)) ? ROOT : owner;
      return Object.assign(await original(file), { uid });
    });
    return keys;
  }
  const STAGED = /^0-next-/;
  const SIGNING = /^1000-/;

  // @shows AS-11.22
  test('is refused if the server cannot read a staged key of root', async () => {
    actAs(ROOT);
    const { ring, names, directory } = await owned(SERVER, /./);
    const before = names();
    await expect(ring.rotate()).rejects.toMatchObject({
      name: 'KeyRotationError',
      message:
        `The staged key ${path.join(directory, before[0] ?? '')} belongs to uid 0, but its ` +
        `directory belongs to uid ${SERVER}, and that user cannot read the key: no key was ` +
        'replaced. Remove this key. Then run the command as the account that runs the server',
    });
    expect(names()).toEqual(before);
  });

  // @shows AS-11.22
  test.each<
    [what: string, uid: number | undefined, owner: number, of: RegExp, options?: RotationOptions]
  >([
    ['the server runs it itself', SERVER, SERVER, STAGED],
    ['the system has no user ids', undefined, SERVER, STAGED],
    ['only a key that already signs belongs to root', ROOT, SERVER, SIGNING],
    ['all keys belong to the server', ROOT, SERVER, /^$/],
    ['the directory belongs to root', ROOT, ROOT, /^$/],
    ['the staged key is removed', ROOT, SERVER, STAGED, { now: true }],
  ])('works if %s', async (_, uid, owner, ofRoot, options = { ifOlderThan: DAY }) => {
    const { ring, names } = await owned(owner, ofRoot);
    actAs(uid);
    await ring.rotate(options);
    expect(names().filter((name) => STAGED.test(name))).toEqual([]);
  });

  test('in a directory of root, works with a staged key of another user', async () => {
    const { ring, names } = await owned(ROOT, /^$/);
    changeFile(
      'lstat',
      (original) => async (file: string) => Object.assign(await original(file), { uid: SERVER }),
    );
    actAs(ROOT);
    await ring.rotate({ ifOlderThan: DAY });
    expect(names().filter((name) => STAGED.test(name))).toEqual([]);
  });

  test('without a directory, says that there is no key', async () => {
    const { ring, directory } = createKeys();
    await rm(directory, { recursive: true });
    actAs(ROOT);
    await expect(ring.rotate()).rejects.toThrow('There is no signing key to replace');
  });
});
