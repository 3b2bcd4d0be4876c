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
 * Thrown when root creates a file or folder in another user's folder, but cannot make that user the
 * owner. Portico has already removed the new file or folder.
 */
export class NotGivenError extends Error {
  override readonly name = 'NotGivenError';
  /** The absolute path of the folder. */
  readonly folder: string;
  /** The id of the folder's owner. */
  readonly uid: number;

  /** The message contains the folder and its owner. */
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

/** A folder. New files in it belong to the folder's owner. */
export interface OwnedFolder {
  /** The id of the folder's owner. If this process is not root, the id of the process's user. */
  readonly uid: number;
  /**
   * A path that refers to this folder even after the folder is replaced. It is valid until `close`.
   */
  readonly path: string;
  /**
   * Makes the folder's owner the owner of an open file. The file must be new and in this folder.
   * Throws a NotGivenError if that fails.
   */
  give(descriptor: number): void;
  close(): void;
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY;

/**
 * Opens a folder. If it is missing, creates it with access only for its owner. Files that root
 * creates in another user's folder will belong to that user. Otherwise, a command run as root could
 * leave files that the server cannot read.
 *
 * At any time, the folder's owner may replace the folder with another folder or a link. Such a
 * replacement must not give the owner access to root's files elsewhere. So the owner is read from
 * the opened folder, and files are written through the folder's descriptor. The owner of a new file
 * is changed only through the file's open descriptor, never by name.
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
 * Opens a file to append to it. If the file or its folder is missing, creates it with access only
 * for its owner. If root runs this, the file gets the folder's owner if possible. In the folder of
 * another user, root opens an existing file only if the file is not a link and has no second name.
 * Otherwise, the owner of the folder could make root write to another file.
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
 * Creates a file. Returns null if the name is taken. The file is opened exclusively. So the
 * function follows no links, and changes the owner only of new files.
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
    // Ignore the error. The file keeps root as its owner.
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
 * gets the owner of its parent folder if possible.
 */
export function makeFolder(folder: string): void {
  madeFolder(folder)?.close();
}

/**
 * Creates the folder if it is missing. Returns the opened folder if this process is root and can
 * change the owner of new files. Otherwise returns null.
 */
function madeFolder(folder: string): OwnedFolder | null {
  try {
    if (process.geteuid?.() === 0) return openOwnedFolder(folder);
  } catch {
    // Ignore the error here. The call below reports the problem.
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
 * Opens the new folder, but not a link that has replaced it. A folder that is not empty is not the
 * folder that was created here.
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
 * Returns the path of an open folder. Throws on systems other than Linux. There, an open folder has
 * no path, and its owner could replace the folder in the meantime.
 */
function getPath(descriptor: number, folder: string, { uid }: Stats): string {
  if (process.platform !== 'linux') throw new NotGivenError(folder, uid);
  return `/proc/self/fd/${descriptor}`;
}
