import { closeSync, existsSync } from 'node:fs';
import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { isError } from '../is-error.ts';
import { makeFolder, openToAppend } from '../owned-files.ts';
import { cannotOpen } from './failures.ts';

/**
 * Opens a file with Portico's settings. `file` is an absolute path or `:memory:`. `wait` is how
 * long to wait, in milliseconds, if another process opens the file at the same time. `isBorrowed`
 * is true if the application uses the same file. The journal mode is then not changed, because it
 * belongs to the file. If the file cannot be opened, the error names it.
 */
export function openFile(file: string, wait: number, isBorrowed: boolean): DatabaseSync {
  try {
    return open(file, wait, isBorrowed);
  } catch (error) {
    if (isError(error)) {
      error.message += ` (${file})`;
      // The stack contains the message, and the log writes the stack.
      Error.captureStackTrace(error);
    }
    throw error;
  }
}

function open(file: string, wait: number, isBorrowed: boolean): DatabaseSync {
  if (file !== ':memory:') createForOwnerOnly(file);
  const sqlite = process.getBuiltinModule('node:sqlite');
  const database = new sqlite.DatabaseSync(file, {
    timeout: wait,
    enableForeignKeyConstraints: true,
  });
  try {
    if (!isBorrowed) database.exec('PRAGMA journal_mode = WAL');
    // With FULL, a confirmed revocation survives a power failure. WAL alone does not ensure this.
    // The application may use the journal mode DELETE. There, removing the journal is the commit,
    // and only EXTRA writes the removal to disk.
    database.exec(`PRAGMA synchronous = ${isBorrowed ? 'EXTRA' : 'FULL'}`);
    // From here on, SQLite must not block the thread while another process writes. `whileBusy`
    // repeats the attempt instead.
    database.exec('PRAGMA busy_timeout = 0');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Creates the file, and its folder if it is missing, with access only for the owner. SQLite itself
 * would usually make the file readable for all users. SQLite gives the files `-wal` and `-shm` the
 * same mode and, if this process is root, the same owner. Does not open an existing file, because
 * closing it would release the locks of all other connections: POSIX locks belong to the process.
 */
function createForOwnerOnly(file: string): void {
  try {
    makeFolder(path.dirname(file));
  } catch (error) {
    throw cannotOpen(error);
  }
  // Check first whether the file exists. Opening it with `O_EXCL` would fail for a link to a file
  // that does not exist yet.
  if (existsSync(file)) return;
  try {
    closeSync(openToAppend(file));
  } catch {
    // Ignore the error here, because SQLite reports the problem later.
  }
}
