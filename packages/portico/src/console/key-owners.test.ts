// @engines sqlite, needs root: only root can create a file for another user
import { chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ALGORITHMS } from '../../../../test/support/algorithms.ts';
import { examineKeys } from './server-checks.ts';
import type { Subject } from './subject.ts';

const [SERVING, OTHER] = [65_534, 65_533];

/** The folder around the key directory, with an apostrophe in its name. */
let folder: string;
let directory: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "portico-key-owners-it's-"));
  directory = path.join(folder, 'a', 'keys');
  await mkdir(directory, { recursive: true, mode: 0o700 });
});
afterEach(() => rm(folder, { recursive: true }));

async function examined(...files: readonly (string | null)[]) {
  const server = {
    clients: { page: async () => ({ items: [], next: null }) },
    keys: {
      all: async () =>
        (files.length === 0 ? ['a.json'] : files).map((file) => ({
          kid: 'a',
          algorithm: 'RS256',
          signsFrom: 0,
          isStaged: false,
          file,
        })),
      algorithms: ALGORITHMS,
    },
    config: { key_path: directory },
    clock: () => 1,
  };
  return [await examineKeys({ server } as unknown as Subject)].flat();
}

async function put(name: string, uid: number): Promise<void> {
  await writeFile(path.join(directory, name), '{}', { mode: 0o600 });
  await chown(path.join(directory, name), uid, uid);
}

test('keys of another user than the owner of their directory are reported', async () => {
  await chown(directory, SERVING, OTHER);
  await put('2-b.json', 0);
  await put('1-a.json', OTHER);
  await put('3-c.json', SERVING);
  await put('no-key.txt', 0);
  const quoted = directory.replaceAll("'", String.raw`'\''`);
  expect(await examined()).toEqual([
    {
      outcome: 'failing',
      detail:
        `oauth_server:key_path: some keys in ${directory} do not belong to the directory's owner ` +
        `(uid ${SERVING}): 1-a.json (uid ${OTHER}), 2-b.json (uid 0)`,
      remedy: expect.stringContaining(
        `if the server runs as uid ${SERVING}, run chown -R ${SERVING}:${OTHER} '${quoted}'. `,
      ) as string,
    },
  ]);
  for (const name of ['2-b.json', '1-a.json']) await chown(path.join(directory, name), SERVING, 0);
  expect(await examined()).toMatchObject([{ outcome: 'ok' }]);
});

test('owners are not compared on Windows', async () => {
  await chown(directory, SERVING, SERVING);
  await put('1-a.json', OTHER);
  expect(await examined()).toMatchObject([{ outcome: 'failing' }]);
  const { platform } = process;
  Object.defineProperty(process, 'platform', { value: 'win32' });
  try {
    expect(await examined()).toMatchObject([{ outcome: 'ok' }]);
  } finally {
    Object.defineProperty(process, 'platform', { value: platform });
  }
});

test('keys in a directory of root may belong to another user', async () => {
  await put('1-a.json', SERVING);
  expect(await examined()).toMatchObject([{ outcome: 'ok' }]);
});

test('a directory of root inside a folder of another user is reported', async () => {
  expect(await examined()).toHaveLength(1);
  await chown(folder, SERVING, OTHER);
  const quoted = directory.replaceAll("'", String.raw`'\''`);
  const warned = (around: string) => ({
    outcome: 'warning',
    detail:
      `oauth_server:key_path: ${directory} belongs to root, but the folder ${around} belongs to ` +
      `uid ${SERVING}. A server that does not run as root cannot read the keys`,
    remedy: `if the server runs as uid ${SERVING}, run chown -R ${SERVING}:${OTHER} '${quoted}'`,
  });
  expect(await examined()).toEqual([expect.objectContaining({ outcome: 'ok' }), warned(folder)]);
  await chown(path.dirname(directory), SERVING, OTHER);
  expect((await examined()).slice(1)).toEqual([warned(path.dirname(directory))]);
  // A KeySigner has no file.
  expect(await examined(null)).toHaveLength(1);
  expect(await examined(null, 'a.json')).toHaveLength(2);
  // Another user cannot read the directory, so another check reports the problem.
  const geteuid = vi.spyOn(process, 'geteuid').mockReturnValue(SERVING);
  try {
    expect(await examined()).toHaveLength(1);
  } finally {
    geteuid.mockRestore();
  }
  await chown(directory, SERVING, OTHER);
  expect(await examined()).toHaveLength(1);
});
