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

/**
 * Thrown when root created a file or folder in another user's folder and could not change its owner
 * to that user. It has been removed again.
 */
export class NotGivenError extends Error {
  override readonly name = 'NotGivenError';
  /** The absolute path of the folder. */
  readonly folder: string;
  /** The owner of the folder. */
  readonly uid: number;

  /** The message contains both. */
  constructor(folder: string, uid: number, cause?: unknown) {
    super(
      `${folder} belongs to uid ${uid}, but root cannot give new files there to that user; ` +
        'run the command as that user',
      {
        cause,
      },
    );
    this.folder = folder;
    this.uid = uid;
  }
}

/** A folder in which new files get the folder's owner. */
export interface OwnedFolder {
  /** The owner. If this process is not root, its own user. */
  readonly uid: number;
  /**
   * The path of the folder itself, even if its name now refers to another folder. Valid until
   * `close`.
   */
  readonly path: string;
  /**
   * Changes the owner of an open file that was created here to the folder's owner. Throws a
   * NotGivenError if that fails.
   */
  give(descriptor: number): void;
  close(): void;
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY;

/**
 * Opens a folder. Creates it if it is missing, with access only for its owner. Files that root
 * creates in another user's folder get that user as their owner. Otherwise, a command that root
 * runs could leave files that the server cannot read.
 *
 * The folder's owner may replace it with another folder or a link at any time. The owner must not
 * be able to get root's files elsewhere in this way. So the owner is read from the opened folder,
 * and files are written through its descriptor. Ownership is changed only through open descriptors
 * of new files, never by name.
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
    path: owner.uid === 0 ? folder : getPath(descriptor, folder, owner),
    give: (file) => give(file, folder, owner),
    close() {
      if (!closed) closeSync(descriptor);
      closed = true;
    },
  };
}

const APPENDING = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;

/**
 * Opens a file to append to. Creates the file and its folder if they are missing, with access only
 * for their owner. If root runs this, the file gets the folder's owner if possible. In another
 * user's folder, root opens an existing file only if it is not a link and has no second name.
 * Otherwise that user could make root write to another file.
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

/**
 * Creates a file, or returns null if the name is taken. The exclusive open does not follow links
 * and ensures that only new files change owner.
 */
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
    // The file still belongs to root.
  }
  return descriptor;
}

function openOwned(name: string, flags: number, file: string, { uid }: OwnedFolder): number {
  const refusal = (what: string, cause?: unknown) =>
    new Error(
      `${file} is ${what}, in a folder of uid ${uid}, where root writes only to plain files. ` +
        'Run the command as that user',
      { cause },
    );
  let descriptor: number;
  try {
    descriptor = openSync(
      name,
      (flags & ~constants.O_CREAT) | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
  } catch (error) {
    throw hasCode(error, 'ELOOP') ? refusal('a link', error) : error;
  }
  const found = fstatSync(descriptor);
  if (found.uid === uid || found.nlink === 1) return descriptor;
  closeSync(descriptor);
  throw refusal('another name of a file that belongs to another user');
}

/**
 * Creates a folder if it is missing, with access only for its owner. If root runs this, the folder
 * gets the parent folder's owner if possible.
 */
export function makeFolder(folder: string): void {
  madeFolder(folder)?.close();
}

/**
 * Creates the folder if it is missing. Returns it opened if root runs this and new files can change
 * owner. Otherwise returns null.
 */
function madeFolder(folder: string): OwnedFolder | null {
  try {
    if (process.geteuid?.() === 0) return openOwnedFolder(folder);
  } catch {
    // The next call reports what is wrong.
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
    const within =
      owner.uid === 0 ? path.dirname(folder) : getPath(parent, path.dirname(folder), owner);
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

/**
 * Opens the new folder. Does not follow a link that has replaced it. If the folder is not empty, it
 * was not created here.
 */
function openMade(name: string, folder: string, owner: Stats): number {
  const descriptor = openSync(name, FOLDER | constants.O_NOFOLLOW);
  try {
    if (readdirSync(getPath(descriptor, folder, owner)).length > 0)
      throw new NotGivenError(folder, owner.uid);
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

/**
 * Returns the path of an open folder. Throws except on Linux. On other systems, an open folder has
 * no path, and the owner could replace the folder in the meantime.
 */
function getPath(descriptor: number, folder: string, { uid }: Stats): string {
  if (process.platform !== 'linux') throw new NotGivenError(folder, uid);
  return `/proc/self/fd/${descriptor}`;
}
