import { closeSync, existsSync } from 'node:fs';
import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { makeFolder, openToAppend } from '../owned-files.ts';

/** How to open a file. */
export interface FileOptions {
  /** How long to wait for another process that is opening the file too, in milliseconds. */
  readonly wait: number;
  /**
   * Whether the application uses the file too. Then it keeps its journal mode, which belongs to the
   * file and not to the connection.
   */
  readonly isBorrowed: boolean;
}

/** Opens a file with the kit's settings. `file` is absolute, or `:memory:`. */
export function openFile(file: string, { wait, isBorrowed }: FileOptions): DatabaseSync {
  if (file !== ':memory:') createForOwnerOnly(file);
  const sqlite = process.getBuiltinModule('node:sqlite');
  const database = new sqlite.DatabaseSync(file, { timeout: wait, enableForeignKeyConstraints: true });
  try {
    if (!isBorrowed) database.exec('PRAGMA journal_mode = WAL');
    // FULL: a revocation that was answered survives a power cut. WAL alone does not guarantee that.
    database.exec('PRAGMA synchronous = FULL');
    // From here on, SQLite never blocks the thread to wait for another process. `whileBusy` retries
    // instead.
    database.exec('PRAGMA busy_timeout = 0');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * SQLite itself would make the file readable for every user. Its companions (`-wal`, `-shm`) get
 * the same mode, and under root the same owner. An existing file is not opened here: POSIX locks
 * belong to the process, so closing it would drop the locks of every other connection.
 */
function createForOwnerOnly(file: string): void {
  makeFolder(path.dirname(file));
  // A link may point to a file that does not exist yet. An exclusive open would fail on it.
  if (existsSync(file)) return;
  try {
    closeSync(openToAppend(file));
  } catch {
    // SQLite reports what is wrong with it.
  }
}
