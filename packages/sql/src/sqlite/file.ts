import { closeSync, existsSync } from 'node:fs';
import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { makeFolder, openToAppend } from '../owned-files.ts';

/** How a file is opened. */
export interface FileOptions {
  /** How long it waits for another process that opens the file too, in milliseconds. */
  readonly wait: number;
  /** Whether the file is somebody else's: it keeps its journal mode then, which belongs to the file and not to the connection. */
  readonly isBorrowed: boolean;
}

/** Opens a file, absolute, or `:memory:`, as the kit wants it. */
export function openFile(file: string, { wait, isBorrowed }: FileOptions): DatabaseSync {
  if (file !== ':memory:') createForOwnerOnly(file);
  const sqlite = process.getBuiltinModule('node:sqlite');
  const database = new sqlite.DatabaseSync(file, { timeout: wait, enableForeignKeyConstraints: true });
  try {
    if (!isBorrowed) database.exec('PRAGMA journal_mode = WAL');
    // FULL: a revocation that was answered survives a power cut, which WAL alone does not promise.
    database.exec('PRAGMA synchronous = FULL');
    // From here on SQLite never blocks the thread to wait for another process: `whileBusy` tries again later.
    database.exec('PRAGMA busy_timeout = 0');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * SQLite itself would let everybody read. The files beside it (`-wal`, `-shm`) get the mode of this one, and as root its owner. A file that exists
 * is not opened here: POSIX locks belong to the process, so closing it again would drop those of every other connection.
 */
function createForOwnerOnly(file: string): void {
  makeFolder(path.dirname(file));
  // A link may name a file that is not there yet; an exclusive open would fail on it.
  if (existsSync(file)) return;
  try {
    closeSync(openToAppend(file));
  } catch {
    // SQLite says what is wrong with it.
  }
}
