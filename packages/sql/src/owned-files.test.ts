// @engines sqlite, needs root: it creates files for another account
import { closeSync, writeSync } from 'node:fs';
import {
  chown,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makeFolder, openOwnedFolder, openToAppend } from './owned-files.ts';

/** A user id. Tests what this owner of a folder can do while root creates files in the folder. */

const OWNER = 65_534;
let around: string;
const theirs = () => path.join(around, 'theirs');
const ofRoot = () => path.join(around, 'of-root');
const uidOf = async (file: string) => (await lstat(file)).uid;

beforeEach(async () => {
  if (process.getuid?.() !== 0)
    throw new Error('Run these tests as root, for instance in a container');
  around = await mkdtemp(path.join(tmpdir(), 'portico-owned-'));
  for (const folder of [theirs(), ofRoot()]) await mkdir(folder, { mode: 0o700 });
  await chown(theirs(), OWNER, OWNER);
});
afterEach(() => rm(around, { recursive: true }));

describe('in the folder of a different account, root', () => {
  test('creates a file in the folder that it opened, even if a link replaces that folder', async () => {
    const folder = openOwnedFolder(theirs());
    await rename(theirs(), `${theirs()}-away`);
    await symlink(ofRoot(), theirs());
    await writeFile(path.join(folder.path, 'key'), '');
    folder.close();
    expect(await readdir(ofRoot())).toEqual([]);
    expect(await readdir(`${theirs()}-away`)).toEqual(['key']);
  });

  test('creates a file and each missing folder with that account as the owner', async () => {
    const file = path.join(theirs(), 'one', 'two', 'file');
    closeSync(openToAppend(file));
    for (let each = file; each !== around; each = path.dirname(each))
      expect(await uidOf(each)).toBe(OWNER);
    expect((await lstat(file)).mode & 0o777).toBe(0o600);
    expect((await lstat(path.dirname(file))).mode & 0o777).toBe(0o700);
  });

  test('does not change the owner of existing files and link targets', async () => {
    const file = path.join(theirs(), 'file');
    await writeFile(file, '');
    closeSync(openToAppend(file));
    expect(await uidOf(file)).toBe(0);
    await symlink(ofRoot(), path.join(theirs(), 'folder'));
    makeFolder(path.join(theirs(), 'folder', 'inner'));
    expect(await uidOf(path.join(ofRoot(), 'inner'))).toBe(0);
    expect(await uidOf(ofRoot())).toBe(0);
  });
});

describe('a file in the folder of a different account that root appends to', () => {
  const log = () => path.join(theirs(), 'log');

  test('is refused if it is a link, whether the target exists or not', async () => {
    await writeFile(path.join(ofRoot(), 'there'), '');
    for (const name of ['there', 'not-there']) {
      await symlink(path.join(ofRoot(), name), log());
      expect(() => openToAppend(log())).toThrow(
        /log is a link, in a folder of uid 65534.* Run the command as that user$/,
      );
      await rm(log());
    }
    expect(await readdir(ofRoot())).toEqual(['there']);
  });

  test('is refused if it is a hard link to a file of a different account', async () => {
    await writeFile(path.join(ofRoot(), 'there'), '');
    await link(path.join(ofRoot(), 'there'), log());
    expect(() => openToAppend(log())).toThrow('a hard link to a file that belongs to another user');
  });

  test('is continued if it belongs to that account, or to root without further hard links', async () => {
    for (const uid of [OWNER, 0]) {
      await writeFile(log(), 'before ');
      await chown(log(), uid, uid);
      const descriptor = openToAppend(log());
      writeSync(descriptor, 'and after');
      closeSync(descriptor);
      expect(await readFile(log(), 'utf8')).toBe('before and after');
      expect(await uidOf(log())).toBe(uid);
    }
  });
});

test('files that root creates in its own folder belong to root', async () => {
  closeSync(openToAppend(path.join(ofRoot(), 'inner', 'file')));
  expect(await uidOf(path.join(ofRoot(), 'inner'))).toBe(0);
  expect(await uidOf(path.join(ofRoot(), 'inner', 'file'))).toBe(0);
});
