import {
  closeSync,
  constants,
  existsSync,
  fchownSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmdirSync,
  rmSync,
  type Stats,
} from 'node:fs';
import path from 'node:path';

/** Root made something in a folder of somebody else, and could not give it to them; nothing of it is left. */
export class NotGivenError extends Error {
  override readonly name = 'NotGivenError';
  readonly folder: string;
  /** Whose the folder is. */
  readonly uid: number;

  constructor(folder: string, uid: number, cause?: unknown) {
    super(`${folder} belongs to uid ${uid}, and what root makes there cannot be given to that user`, {
      cause,
    });
    this.folder = folder;
    this.uid = uid;
  }
}

/** A folder in which files are made for whoever it belongs to. */
export interface OwnedFolder {
  /** Of the folder itself, whatever its name leads to by now; good until `close`. */
  readonly path: string;
  /** Gives an open file that was made here to the owner of the folder. Throws a NotGivenError. */
  give(descriptor: number): void;
  close(): void;
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY;

/**
 * Opens a folder, and makes it where it is missing, for its owner alone. What root makes in a folder of somebody else belongs to them: a command that root
 * gives must not leave what the server cannot read.
 *
 * Whoever owns the folder may put another one, or a link, in its place at any moment, and must not be given a file of root elsewhere. So the owner is that
 * of the folder that was opened, it is written through that descriptor, and only open descriptors of what was just made change hands, never names.
 */
export function openOwnedFolder(folder: string): OwnedFolder {
  if (process.geteuid?.() !== 0) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return { path: folder, give() {}, close() {} };
  }
  const descriptor = openOrMake(folder);
  const owner = fstatSync(descriptor);
  let closed = false;
  return {
    path: owner.uid === 0 ? folder : pathOf(descriptor, folder, owner),
    give: (file) => give(file, folder, owner),
    close() {
      if (!closed) closeSync(descriptor);
      closed = true;
    },
  };
}

/**
 * Opens a file to append to, and makes it where it is missing, with its folder, for their owner alone; as root, for the owner of the folder. Where that
 * cannot be, it is root's.
 */
export function openToAppend(file: string, flags: number | 'a' = 'a'): number {
  try {
    const made = process.geteuid?.() === 0 && !existsSync(file) ? makeOwned(file) : null;
    if (made !== null) return made;
  } catch {
    // What is wrong with the file itself is said below.
  }
  makeFolder(path.dirname(file));
  return openSync(file, flags, 0o600);
}

/** Makes a folder where it is missing, for its owner alone; as root, for the owner of the one around it where that can be. */
export function makeFolder(folder: string): void {
  try {
    if (process.geteuid?.() === 0) openOwnedFolder(folder).close();
  } catch {
    // What is wrong with it is said below.
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
}

function makeOwned(file: string): number {
  const folder = openOwnedFolder(path.dirname(file));
  try {
    const name = path.join(folder.path, path.basename(file));
    // Exclusive: it follows no link, and what is given is new.
    const descriptor = openSync(name, 'ax', 0o600);
    try {
      folder.give(descriptor);
      return descriptor;
    } catch (error) {
      closeSync(descriptor);
      rmSync(name, { force: true });
      throw error;
    }
  } finally {
    folder.close();
  }
}

function openOrMake(folder: string): number {
  try {
    return openSync(folder, FOLDER);
  } catch (error) {
    if (!hasCode(error, 'ENOENT') || path.dirname(folder) === folder) throw error;
  }
  const parent = openOrMake(path.dirname(folder));
  try {
    const owner = fstatSync(parent);
    const within = owner.uid === 0 ? path.dirname(folder) : pathOf(parent, path.dirname(folder), owner);
    const name = path.join(within, path.basename(folder));
    try {
      mkdirSync(name, 0o700);
    } catch (error) {
      if (hasCode(error, 'EEXIST')) return openSync(folder, FOLDER);
      throw error;
    }
    return owner.uid === 0 ? openSync(name, FOLDER) : openMade(name, folder, owner);
  } finally {
    closeSync(parent);
  }
}

/** A link in the place of what was made is not followed, and what is not empty was not made here. */
function openMade(name: string, folder: string, owner: Stats): number {
  const descriptor = openSync(name, FOLDER | constants.O_NOFOLLOW);
  try {
    if (readdirSync(pathOf(descriptor, folder, owner)).length > 0) throw new NotGivenError(folder, owner.uid);
    give(descriptor, folder, owner);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    rmdirSync(name);
    throw error;
  }
}

function give(descriptor: number, folder: string, { uid, gid }: Stats): void {
  if (fstatSync(descriptor).uid === uid) return;
  try {
    fchownSync(descriptor, uid, gid);
  } catch (cause) {
    throw new NotGivenError(folder, uid, cause);
  }
}

/** Linux alone names what is open; elsewhere whoever owns the folder could exchange it in the meantime. */
function pathOf(descriptor: number, folder: string, { uid }: Stats): string {
  if (process.platform !== 'linux') throw new NotGivenError(folder, uid);
  return `/proc/self/fd/${descriptor}`;
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
