import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmdirSync,
  type Stats,
} from 'node:fs';
import path from 'node:path';
import { hasCode } from './errors.ts';
import { makeFolders } from './make-folders.ts';

/** Root made something in a folder of somebody else, and could not give it to them; nothing of it is left. */
export class NotGivenError extends Error {
  override readonly name = 'NotGivenError';
  /** The folder, absolute. */
  readonly folder: string;
  /** Whose the folder is. */
  readonly uid: number;

  /** The message names both. */
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
  /** Whose it is; of this process itself where that is not root. */
  readonly uid: number;
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
    makeFolders(folder, 0o700);
    return { uid: process.geteuid?.() ?? 0, path: folder, give() {}, close() {} };
  }
  const descriptor = openOrMake(folder);
  const owner = fstatSync(descriptor);
  let closed = false;
  return {
    uid: owner.uid,
    path: owner.uid === 0 ? folder : pathOf(descriptor, folder, owner),
    give: (file) => give(file, folder, owner),
    close() {
      if (!closed) closeSync(descriptor);
      closed = true;
    },
  };
}

const APPENDING = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;

/**
 * Opens a file to append to, and makes it where it is missing, with its folder, for their owner alone; as root, for the owner of the folder. Where that
 * cannot be, it is root's. What is there already root opens in a folder of somebody else only where it is no link, and no other name of a file elsewhere:
 * they would have root write into it.
 */
export function openToAppend(file: string, flags = APPENDING): number {
  const folder = madeFolder(path.dirname(file));
  if (folder === null || folder.uid === 0) {
    folder?.close();
    return openSync(file, flags, 0o600);
  }
  try {
    const name = path.join(folder.path, path.basename(file));
    return createOwned(name, flags, folder) ?? openOwned(name, flags, file, folder);
  } finally {
    folder.close();
  }
}

/** Null where something has the name. Exclusive: it follows no link, and what is given is new. */
function createOwned(name: string, flags: number, folder: OwnedFolder): number | null {
  let descriptor: number;
  try {
    descriptor = openSync(name, flags | constants.O_CREAT | constants.O_EXCL, 0o600);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return null;
    throw error;
  }
  try {
    folder.give(descriptor);
  } catch {
    // It is root's.
  }
  return descriptor;
}

function openOwned(name: string, flags: number, file: string, { uid }: OwnedFolder): number {
  const refusal = (what: string, cause?: unknown) =>
    new Error(
      `${file} is ${what}, in a folder that belongs to uid ${uid}: root writes there only into plain files; run the command as that user`,
      { cause },
    );
  let descriptor: number;
  try {
    descriptor = openSync(name, (flags & ~constants.O_CREAT) | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    throw hasCode(error, 'ELOOP') ? refusal('a link', error) : error;
  }
  const found = fstatSync(descriptor);
  if (found.uid === uid || found.nlink === 1) return descriptor;
  closeSync(descriptor);
  throw refusal('another name of a file of somebody else');
}

/** Makes a folder where it is missing, for its owner alone; as root, for the owner of the one around it where that can be. */
export function makeFolder(folder: string): void {
  madeFolder(folder)?.close();
}

/** Open where this is root, and what is made there can be given away. */
function madeFolder(folder: string): OwnedFolder | null {
  try {
    if (process.geteuid?.() === 0) return openOwnedFolder(folder);
  } catch {
    // What is wrong with it is said below.
  }
  makeFolders(folder, 0o700);
  return null;
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
