import { closeSync, existsSync } from 'node:fs';
import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { makeFolder, openToAppend } from '../owned-files.ts';

/**
 * Opens a file with Portico's settings. `file` is an absolute path or `:memory:`. `wait` is how
 * long to wait while another process also opens the file, in milliseconds. If the application uses
 * the file too (`isBorrowed`), the journal mode stays unchanged, because it belongs to the file and
 * not to the connection.
 */
export function openFile(file: string, wait: number, isBorrowed: boolean): DatabaseSync {
  if (file !== ':memory:') createForOwnerOnly(file);
  const sqlite = process.getBuiltinModule('node:sqlite');
  const database = new sqlite.DatabaseSync(file, {
    timeout: wait,
    enableForeignKeyConstraints: true,
  });
  try {
    if (!isBorrowed) database.exec('PRAGMA journal_mode = WAL');
    // With FULL, a confirmed revocation survives a power failure. WAL alone does not guarantee
    // that.
    database.exec('PRAGMA synchronous = FULL');
    // From now on, SQLite must not block the thread while it waits for another process. `whileBusy`
    // retries instead.
    database.exec('PRAGMA busy_timeout = 0');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Creates the file with access only for its owner. SQLite itself would make it readable for every
 * user. The files `-wal` and `-shm` get the same mode and, if root runs this, the same owner. Does
 * not open an existing file, because POSIX locks belong to the process. Closing the file would
 * release all other connections' locks.
 */
function createForOwnerOnly(file: string): void {
  makeFolder(path.dirname(file));
  // A link may refer to a file that does not exist yet. An exclusive open would fail on such a
  // link.
  if (existsSync(file)) return;
  try {
    closeSync(openToAppend(file));
  } catch {
    // SQLite will report the problem.
  }
}
