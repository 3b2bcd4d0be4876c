import { link, lstat, open, readdir, readFile, rename, rm, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { isNativeError } from 'node:util/types';
import { hasCode, openOwnedFolder } from '@portico/sql';
import { randomIdentifier } from '../crypto.ts';
import type { SigningAlgorithms } from './algorithms.ts';
import { getAlgorithm, isKeyFile } from './key-names.ts';
import { keyIn, type NewKey, type StagedMembers } from './key-pairs.ts';
import { KeysLostError, type SigningKey } from './signing-key.ts';
import { toDisk } from '../to-disk.ts';

const DRAFT = /^\.draft-[0-9a-f]{32}$/;
/**
 * How old a draft file must be before it is removed, in milliseconds. Writing a key takes far less
 * time, so no process is still writing a draft of this age.
 */
const LEFT_DRAFT = 3_600_000;

/**
 * The error codes that show that the operating system or file system cannot write a folder to disk
 * separately.
 */
const CANNOT_SYNC = ['EACCES', 'EBADF', 'EINVAL', 'EISDIR', 'EPERM'];

/** The owner of the key directory, and the key files that belong to other users. */
export interface Owners {
  /** The owner of the key directory. Null if the directory does not exist. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
  readonly foreign: readonly { readonly name: string; readonly uid: number }[];
}

/** The key files in one directory. */
export class KeyFiles {
  readonly directory: string;
  readonly #algorithms: SigningAlgorithms;

  constructor(directory: string, algorithms: SigningAlgorithms) {
    this.directory = directory;
    this.#algorithms = algorithms;
  }

  /** Returns the names of the key files. Returns an empty list if the directory does not exist. */
  async names(): Promise<string[]> {
    try {
      return (await readdir(this.directory)).filter((name) => this.has(name));
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return [];
      throw error;
    }
  }

  /** Whether this is a valid name for a key file. */
  has(name: string): boolean {
    return isKeyFile(name, this.#algorithms);
  }

  /** Returns the owner of the key directory, and the key files that belong to other users. */
  async owners(): Promise<Owners> {
    const owner = await stat(this.directory).catch(() => null);
    const found: { readonly name: string; readonly uid: number }[] = [];
    for (const name of owner === null ? [] : await this.names()) {
      // For a symbolic link, read the owner of the link itself. Otherwise, Portico would tell the
      // operator to change the owner of the link's target. Null means that the file no longer
      // exists.
      const file = await lstat(path.join(this.directory, name)).catch(() => null);
      if (file !== null && file.uid !== owner?.uid) found.push({ name, uid: file.uid });
    }
    return { owner, foreign: found.toSorted((one, other) => (one.name < other.name ? -1 : 1)) };
  }

  /**
   * Reads a key from a file. Throws if the file contains no key for the algorithm in its name.
   * Throws a KeysLostError if the file cannot be read.
   */
  async read(name: string): Promise<SigningKey> {
    const file = path.join(this.directory, name);
    try {
      return keyIn(await readFile(file, 'utf8'), name, this.#algorithms.form(getAlgorithm(name)));
    } catch (cause) {
      // A file system error can be temporary, for example until an operator corrects the
      // permissions. All other errors come from the content of the file, which never changes.
      if (isOfFileSystem(cause))
        throw new KeysLostError(`The signing key ${file} cannot be read`, cause);
      throw new Error(`The signing key ${file} cannot be read`, { cause });
    }
  }

  /**
   * Writes a key to a draft file. Only the current user can read the file. If the current user is
   * root, only the owner of the directory can read it. If writing fails, removes the file.
   */
  async draft({ kid, algorithm, jwk }: NewKey, staged: StagedMembers = {}): Promise<Draft> {
    const folder = openOwnedFolder(this.directory);
    const draft = path.join(folder.path, `.draft-${randomIdentifier()}`);
    const discard = async () => {
      // Remove the draft while the directory is open, because the draft's path is valid only until
      // then. Ignore an error, because after `place` there is no draft to remove.
      await rm(draft).catch(() => {});
      folder.close();
    };
    const content = { ...jwk, kid, alg: algorithm, use: 'sig', ...staged };
    try {
      // `wx` always creates a new file and never follows a link.
      const file = await open(draft, 'wx', 0o600);
      try {
        folder.give(file.fd);
        await file.writeFile(`${JSON.stringify(content, null, 2)}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
    } catch (error) {
      await discard();
      throw error;
    }
    return {
      place: (name) => rename(draft, path.join(folder.path, name)),
      placeOnce: (name) => linkOnce(draft, path.join(folder.path, name)),
      discard,
    };
  }

  /** Writes a key to a file with this name. */
  async write(made: NewKey, name: string): Promise<void> {
    const draft = await this.draft(made);
    try {
      await draft.place(name);
      await this.sync().catch(async (error: unknown) => {
        await this.remove(name);
        throw error;
      });
    } finally {
      await draft.discard();
    }
  }

  /** Renames a file. At every moment, at least one of the two names exists. */
  async rename(from: string, to: string): Promise<void> {
    const folder = openOwnedFolder(this.directory);
    try {
      await linkOnce(path.join(folder.path, from), path.join(folder.path, to));
      await unlinkOnce(path.join(folder.path, from));
    } finally {
      folder.close();
    }
  }

  /**
   * Writes the file names to disk, so that a crash of the machine can neither lose a new key nor
   * bring back a removed key.
   */
  async sync(): Promise<void> {
    try {
      await toDisk(this.directory);
    } catch (error) {
      if (!CANNOT_SYNC.some((code) => hasCode(error, code))) throw error;
    }
  }

  /** Removes a file. Returns false if the file no longer existed. */
  async remove(name: string): Promise<boolean> {
    return unlinkOnce(path.join(this.directory, name));
  }

  /**
   * Removes drafts that other processes left behind when they were killed while writing a key.
   * `now` is compared with the times of files, so pass `Date.now()`.
   */
  async removeLeftDrafts(now: number): Promise<void> {
    for (const name of (await readdir(this.directory)).filter((each) => DRAFT.test(each))) {
      const file = await stat(path.join(this.directory, name)).catch(() => null);
      if (file !== null && now - file.mtimeMs > LEFT_DRAFT) await this.remove(name);
    }
  }
}

/** A complete key file on disk that the server does not use yet. */
export interface Draft {
  /** Gives the file this name. Replaces a file that already has this name. */
  place(name: string): Promise<void>;
  /** Gives the file this name. Returns false if another file already has this name. */
  placeOnce(name: string): Promise<boolean>;
  /** Removes the file, unless it already has its final name. Never rejects. */
  discard(): Promise<void>;
}

/** Removes the file. Returns false if the file no longer existed. */
async function unlinkOnce(file: string): Promise<boolean> {
  try {
    await unlink(file);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

async function linkOnce(existing: string, name: string): Promise<boolean> {
  try {
    await link(existing, name);
    return true;
  } catch (error) {
    // Another process was faster: it has taken the name, or it has already renamed the file.
    if (hasCode(error, 'EEXIST') || hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

function isOfFileSystem(error: unknown): boolean {
  return isNativeError(error) && 'syscall' in error;
}
