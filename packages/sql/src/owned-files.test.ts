// @engines sqlite, needs root: it creates files for another account
import fs, {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
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
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { makeFolder, NotGivenError, openOwnedFolder, openToAppend } from './owned-files.ts';

/** What happens at a system call of root. The owner of the folder can do it at any time. */
interface Meanwhile {
  opening: (flags: number) => void;
  making: () => void;
  made: (folder: string) => void;
  given: () => void;
}
const meanwhile: Meanwhile = { opening() {}, making() {}, made() {}, given() {} };
const { openSync: open, mkdirSync: make, fchownSync: giveTo } = fs;

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
  vi.spyOn(fs, 'openSync').mockImplementation((file, flags, mode) => {
    meanwhile.opening(Number(flags));
    return open(file, flags, mode);
  });
  vi.spyOn(fs, 'mkdirSync').mockImplementation((folder, mode) => {
    meanwhile.making();
    make(folder, mode);
    meanwhile.made(String(folder));
    return undefined;
  });
  vi.spyOn(fs, 'fchownSync').mockImplementation((descriptor, uid, gid) => {
    meanwhile.given();
    giveTo(descriptor, uid, gid);
  });
  syncBuiltinESMExports();
});
afterEach(async () => {
  Object.assign(meanwhile, { opening() {}, making() {}, made() {}, given() {} });
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  await rm(around, { recursive: true });
});
const failing = (code: string) => () => {
  throw Object.assign(new Error(code), { code });
};
const openFiles = () => readdirSync('/proc/self/fd').length;

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

  test('creates a folder in the folder that it opened, even if a link replaces that folder', async () => {
    meanwhile.making = () => {
      meanwhile.making = () => {};
      renameSync(theirs(), `${theirs()}-away`);
      symlinkSync(ofRoot(), theirs());
    };
    const folder = openOwnedFolder(path.join(theirs(), 'one'));
    folder.close();
    expect(await readdir(ofRoot())).toEqual([]);
    expect(await uidOf(path.join(`${theirs()}-away`, 'one'))).toBe(OWNER);
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
      expect(caught(() => openToAppend(log()))).toMatchObject({ cause: { code: 'ELOOP' } });
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

describe('the folder of a different account, opened by root', () => {
  test('has its owner, and gives this owner a file that root has opened', async () => {
    const before = openFiles();
    const folder = openOwnedFolder(theirs());
    expect(folder.uid).toBe(OWNER);
    expect(folder.path).toMatch(/^\/proc\/self\/fd\/\d+$/);
    const file = path.join(ofRoot(), 'file');
    const descriptor = openSync(file, 'w');
    folder.give(descriptor);
    folder.give(descriptor);
    expect([(await stat(file)).uid, (await stat(file)).gid]).toEqual([OWNER, OWNER]);
    await chown(file, OWNER, 0);
    folder.give(descriptor);
    expect((await stat(file)).gid).toBe(0);
    closeSync(descriptor);
    folder.close();
    folder.close();
    expect(openFiles()).toBe(before);
  });

  test('cannot be opened on a system without paths of descriptors', async () => {
    vi.spyOn(process, 'platform', 'get').mockReturnValue('darwin');
    const failure = caught(() => openOwnedFolder(theirs()));
    expect(failure).toBeInstanceOf(NotGivenError);
    expect(failure).toMatchObject({
      name: 'NotGivenError',
      folder: theirs(),
      uid: OWNER,
      message: `${theirs()} belongs to uid ${OWNER}, but root cannot give new files there to that user; run the command as that user`,
    });
    // Root then remains the owner.
    makeFolder(path.join(theirs(), 'folder'));
    closeSync(openToAppend(path.join(theirs(), 'file')));
    expect(await uidOf(path.join(theirs(), 'folder'))).toBe(0);
    expect(await uidOf(path.join(theirs(), 'file'))).toBe(0);
    const own = path.join(ofRoot(), 'one', 'two');
    expect(openOwnedFolder(own)).toMatchObject({ uid: 0, path: own });
  });

  test('keeps a file of root if root cannot give it away', async () => {
    meanwhile.given = failing('EPERM');
    const file = path.join(theirs(), 'file');
    closeSync(openToAppend(file));
    expect(await uidOf(file)).toBe(0);
    const folder = openOwnedFolder(theirs());
    const descriptor = openSync(file, 'a');
    expect(caught(() => folder.give(descriptor))).toMatchObject({
      name: 'NotGivenError',
      cause: { code: 'EPERM' },
    });
    closeSync(descriptor);
    folder.close();
    const made = path.join(theirs(), 'one');
    expect(caught(() => openOwnedFolder(made))).toMatchObject({ name: 'NotGivenError' });
    expect(await readdir(theirs())).toEqual(['file']);
  });

  test('is not given to its owner if that owner has replaced it', async () => {
    const before = openFiles();
    const made = path.join(theirs(), 'one');
    meanwhile.made = (folder) => closeSync(openSync(path.join(folder, 'theirs'), 'w'));
    expect(() => openOwnedFolder(made)).toThrow('ENOTEMPTY');
    expect(await uidOf(made)).toBe(0);
    await rm(made, { recursive: true });
    expect(openFiles()).toBe(before);
  });

  test('is opened if a different process creates it at the same moment', async () => {
    const before = openFiles();
    for (const around of [theirs(), ofRoot()]) {
      meanwhile.made = failing('EEXIST');
      const folder = openOwnedFolder(path.join(around, 'one'));
      expect(folder.uid).toBe(0);
      folder.close();
      meanwhile.made = failing('EIO');
      const failure = caught(() => openOwnedFolder(path.join(around, 'two')));
      expect(failure).toMatchObject({ code: 'EIO' });
    }
    expect(openFiles()).toBe(before);
  });
});

describe('a file that root appends to', () => {
  test('may have several names if all belong to the owner of its folder', async () => {
    await writeFile(path.join(theirs(), 'one'), '');
    await chown(path.join(theirs(), 'one'), OWNER, OWNER);
    await link(path.join(theirs(), 'one'), path.join(theirs(), 'two'));
    const before = openFiles();
    const descriptor = openToAppend(path.join(theirs(), 'two'));
    expect(fstatSync(descriptor).nlink).toBe(2);
    closeSync(descriptor);
    expect(openFiles()).toBe(before);
  });

  test('is not left open if it is refused, and nor is its folder', async () => {
    const before = openFiles();
    await writeFile(path.join(ofRoot(), 'there'), '');
    await link(path.join(ofRoot(), 'there'), path.join(theirs(), 'log'));
    expect(() => openToAppend(path.join(theirs(), 'log'))).toThrow('a hard link');
    const long = path.join(theirs(), 'x'.repeat(300));
    expect(caught(() => openToAppend(long))).toMatchObject({ code: 'ENAMETOOLONG' });
    await mkdir(path.join(theirs(), 'folder'));
    const folder = caught(() => openToAppend(path.join(theirs(), 'folder')));
    expect(folder).toMatchObject({ code: 'EISDIR' });
    makeFolder(path.join(theirs(), 'made'));
    closeSync(openToAppend(path.join(ofRoot(), 'file')));
    expect(openFiles()).toBe(before);
  });

  test('is not created on a full disk, and a folder is not opened with too many files', () => {
    meanwhile.opening = (flags) => {
      if ((flags & constants.O_EXCL) !== 0) failing('ENOSPC')();
    };
    const file = path.join(theirs(), 'file');
    expect(caught(() => openToAppend(file))).toMatchObject({ code: 'ENOSPC' });
    meanwhile.opening = () => {
      meanwhile.opening = () => {};
      failing('EMFILE')();
    };
    expect(caught(() => openOwnedFolder(theirs()))).toMatchObject({ code: 'EMFILE' });
  });

  test('may be a link in the own folder of the process', async () => {
    await writeFile(path.join(ofRoot(), 'there'), '');
    for (const folder of [ofRoot(), theirs()]) {
      await symlink(path.join(ofRoot(), 'there'), path.join(folder, 'log'));
      const descriptor = openToAppend(path.join(folder, 'log'));
      writeSync(descriptor, 'line ');
      closeSync(descriptor);
      vi.spyOn(process, 'geteuid').mockReturnValue(1000);
    }
    expect(await readFile(path.join(ofRoot(), 'there'), 'utf8')).toBe('line line ');
  });

  test('in a folder that is a file is refused', async () => {
    await writeFile(path.join(theirs(), 'file'), '');
    const below = path.join(theirs(), 'file', 'log');
    expect(caught(() => openOwnedFolder(path.dirname(below)))).toMatchObject({ code: 'ENOTDIR' });
    expect(caught(() => openToAppend(below))).toMatchObject({ code: 'EEXIST' });
  });
});

describe('a process that is not root', () => {
  test('creates folders and files for its own account', async () => {
    vi.spyOn(process, 'geteuid').mockReturnValue(1000);
    const made = path.join(theirs(), 'one', 'two');
    const folder = openOwnedFolder(made);
    expect(folder).toMatchObject({ uid: 1000, path: made });
    expect((await stat(made)).mode & 0o777).toBe(0o700);
    folder.give(-1);
    folder.close();
    makeFolder(path.join(theirs(), 'three'));
    closeSync(openToAppend(path.join(theirs(), 'four', 'file')));
    for (const each of ['one', 'three', 'four'])
      expect(await uidOf(path.join(theirs(), each))).toBe(0);
    expect((await stat(path.join(theirs(), 'four', 'file'))).mode & 0o777).toBe(0o600);
  });

  test('has the user id 0 on a system without user ids', () => {
    const { geteuid } = process;
    onTestFinished(() => void Object.assign(process, { geteuid }));
    delete process.geteuid;
    expect(openOwnedFolder(theirs())).toMatchObject({ uid: 0, path: theirs() });
  });
});

function caught(call: () => unknown): unknown {
  try {
    call();
    return null;
  } catch (error) {
    return error;
  }
}
