import { closeSync, existsSync } from 'node:fs';
import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { makeFolder, openToAppend } from '../owned-files.ts';

/**
 * Opens a file with Portico's settings. `file` is an absolute path or `:memory:`. `wait` is how
 * long to wait, in milliseconds, if another process opens the file at the same time. `isBorrowed`
 * is true if the application uses the same file. The journal mode then stays unchanged, because the
 * mode belongs to the file.
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
    // With FULL, a confirmed revocation survives a power failure. WAL alone does not ensure this.
    // Without WAL, the removal of the journal is the commit, and only EXTRA syncs its folder.
    database.exec(`PRAGMA synchronous = ${isBorrowed ? 'EXTRA' : 'FULL'}`);
    // From now on, SQLite must not block the thread while another process writes. `whileBusy`
    // repeats the attempt instead.
    database.exec('PRAGMA busy_timeout = 0');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Creates the file with access only for its owner. SQLite itself would make the file readable for
 * all users. The files `-wal` and `-shm` get the same mode and, if this process is root, the same
 * owner. Does not open an existing file: POSIX locks belong to the process, so closing the file
 * would release the locks of all other connections.
 */
function createForOwnerOnly(file: string): void {
  makeFolder(path.dirname(file));
  // A link may lead to a file that does not exist yet. With a link, opening the file exclusively
  // would fail.
  if (existsSync(file)) return;
  try {
    closeSync(openToAppend(file));
  } catch {
    // Ignore the error here. SQLite reports the problem later.
  }
}
