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
 * Thrown when root creates a file or folder in another user's folder, but cannot make that user its
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

/** A folder. The folder's owner becomes the owner of new files in it. */
export interface OwnedFolder {
  /**
   * The id of the folder's owner. If this process is not root, the id of the user that runs this
   * process.
   */
  readonly uid: number;
  /**
   * The path for access to files in this folder. If this process is root and another user owns the
   * folder, the path leads to this folder even after the folder is replaced, and is valid until
   * `close`.
   */
  readonly path: string;
  /**
   * Makes the folder's owner the owner of an open file. The file must be new and in this folder.
   * Throws a NotGivenError if the owner cannot be changed. Does nothing if this process is not
   * root.
   */
  give(descriptor: number): void;
  close(): void;
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY;

/**
 * Opens a folder. If it is missing, creates it with access only for its owner. If root creates
 * files in another user's folder, that user becomes their owner. Otherwise, a command run as root
 * could leave files that the server cannot read.
 *
 * The folder's owner may replace the folder with another folder or a link at any time. This must
 * not make root change the owner of other files. Therefore, the owner is read from the opened
 * folder, and files are written through the folder's descriptor. The owner of a new file is changed
 * through the file's open descriptor, never by name.
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
 * for its owner. If this process is root, the folder's owner becomes the owner of the file, if
 * possible. Returns the file descriptor. `flags` are those of Node's `openSync`.
 *
 * On Linux, root opens an existing file in another user's folder only if it is not a link. Unless
 * the folder's owner owns the file, the file must also have no second name (hard link). Otherwise,
 * the owner of the folder could make root write to another file.
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
 * Creates a file. Returns null if the name is taken. Opens the file exclusively, so that the
 * function follows no links and changes the owner only of new files.
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
    // Ignore the error. Root then remains the owner of the file.
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
  throw refusal('a hard link to a file that belongs to another user');
}

/**
 * Creates a folder if it is missing, with access only for its owner. If this process is root, the
 * new folder gets the same owner as its parent folder, if possible.
 */
export function makeFolder(folder: string): void {
  madeFolder(folder)?.close();
}

/**
 * Creates the folder if it is missing. If this process is root and `openOwnedFolder` succeeds,
 * returns the opened folder. Otherwise returns null.
 */
function madeFolder(folder: string): OwnedFolder | null {
  try {
    if (process.geteuid?.() === 0) return openOwnedFolder(folder);
  } catch {
    // Ignore the error here. `makeFolders` creates the folder with root as its owner, or reports
    // the problem.
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
 * Opens the new folder. Refuses a link, and a folder that is not empty, because each of these has
 * replaced the folder that was created here.
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
 * Returns the path of an open folder. Throws on systems other than Linux, because an open folder
 * has no path there. With the folder's normal path, its owner could replace the folder in the
 * meantime.
 */
function getPath(descriptor: number, folder: string, { uid }: Stats): string {
  if (process.platform !== 'linux') throw new NotGivenError(folder, uid);
  return `/proc/self/fd/${descriptor}`;
}
