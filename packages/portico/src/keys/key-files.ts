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
 * How old a draft must be before it is removed, in milliseconds. No process still writes a draft of
 * this age.
 */
const LEFT_DRAFT = 3_600_000;

/** These error codes mean that the system cannot write a folder to disk separately. */
const CANNOT_SYNC = ['EACCES', 'EBADF', 'EINVAL', 'EISDIR', 'EPERM'];

export interface Owners {
  /** Null if the key directory does not exist. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
  readonly foreign: readonly { readonly name: string; readonly uid: number }[];
}

export class KeyFiles {
  readonly directory: string;
  readonly #algorithms: SigningAlgorithms;

  constructor(directory: string, algorithms: SigningAlgorithms) {
    this.directory = directory;
    this.#algorithms = algorithms;
  }

  /** Empty if the directory does not exist. */
  async names(): Promise<string[]> {
    try {
      return (await readdir(this.directory)).filter((name) => this.has(name));
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return [];
      throw error;
    }
  }

  has(name: string): boolean {
    return isKeyFile(name, this.#algorithms);
  }

  async owners(): Promise<Owners> {
    const owner = await stat(this.directory).catch(() => null);
    const found: { readonly name: string; readonly uid: number }[] = [];
    for (const name of owner === null ? [] : await this.names()) {
      // Read the owner of a symbolic link itself. Otherwise, Portico would tell the operator to
      // change the owner of its target. Null means that the file no longer exists.
      const file = await lstat(path.join(this.directory, name)).catch(() => null);
      if (file !== null && file.uid !== owner?.uid) found.push({ name, uid: file.uid });
    }
    return { owner, foreign: found.toSorted((one, other) => (one.name < other.name ? -1 : 1)) };
  }

  /**
   * Throws if the file contains no key for the algorithm in its name. Throws a KeysLostError if the
   * file cannot be read.
   */
  async read(name: string): Promise<SigningKey> {
    const file = path.join(this.directory, name);
    try {
      return keyIn(await readFile(file, 'utf8'), name, this.#algorithms.form(getAlgorithm(name)));
    } catch (cause) {
      // A file system error can be temporary, for example until an operator corrects the
      // permissions. All other errors come from the file's content, which never changes.
      if (isOfFileSystem(cause))
        throw new KeysLostError(`The signing key ${file} cannot be read`, cause);
      throw new Error(`The signing key ${file} cannot be read`, { cause });
    }
  }

  /**
   * Writes a key to a draft file. Only the current user can read it. For root, only the owner of
   * the directory can read it. Removes the file if writing fails.
   */
  async draft({ kid, algorithm, jwk }: NewKey, staged: StagedMembers = {}): Promise<Draft> {
    const folder = openOwnedFolder(this.directory);
    const draft = path.join(folder.path, `.draft-${randomIdentifier()}`);
    const discard = async () => {
      // Remove the draft first: its path is valid only while the directory is open. Ignore an
      // error. After `place`, there is no draft to remove.
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

  /** At every moment, at least one of the two names exists. */
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
   * Writes the file names to disk. A crash of the machine can then neither lose a new key nor bring
   * back a removed one.
   */
  async sync(): Promise<void> {
    try {
      await toDisk(this.directory);
    } catch (error) {
      if (!CANNOT_SYNC.some((code) => hasCode(error, code))) throw error;
    }
  }

  /** Returns false if the file no longer existed. */
  async remove(name: string): Promise<boolean> {
    return unlinkOnce(path.join(this.directory, name));
  }

  /**
   * Removes drafts of processes that were killed while writing a key. Pass `Date.now()` as `now`:
   * it is compared with the times of files.
   */
  async removeLeftDrafts(now: number): Promise<void> {
    for (const name of (await readdir(this.directory)).filter((each) => DRAFT.test(each))) {
      const file = await stat(path.join(this.directory, name)).catch(() => null);
      if (file !== null && now - file.mtimeMs > LEFT_DRAFT) await this.remove(name);
    }
  }
}

/** A complete key file that the server does not use yet. */
export interface Draft {
  /** Replaces a file that already has this name. */
  place(name: string): Promise<void>;
  /** Returns false if another file already has this name. */
  placeOnce(name: string): Promise<boolean>;
  /** Removes the file, unless it has its final name. Never rejects. */
  discard(): Promise<void>;
}

/** Returns false if the file no longer existed. */
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
    // Another process was faster: it has taken the name, or has already renamed the file.
    if (hasCode(error, 'EEXIST') || hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

function isOfFileSystem(error: unknown): boolean {
  return isNativeError(error) && 'syscall' in error;
}
