import type { DatabaseSync } from 'node:sqlite';
import { ConfigurationError } from '../errors.ts';

/**
 * The absolute path of a connection's file. Throws a ConfigurationError for a database that no
 * other connection can reach, and for a connection of another library. Another library brings its
 * own SQLite. Locks belong to the process, so two of them in one process do not see each other's
 * locks, and an answered write is lost as soon as both write.
 */
export function getFile(database: DatabaseSync): string {
  const sqlite = process.getBuiltinModule('node:sqlite');
  // JavaScript callers may pass anything.
  if (!((database as unknown) instanceof sqlite.DatabaseSync)) {
    refuse(
      "is not a DatabaseSync of node:sqlite. Another library on the same file does not see Portico's locks, and each loses what the " +
        'other writes: leave `database` out, and give Portico a separate file (database_url)',
    );
  }
  const databases = database.prepare('PRAGMA database_list').all();
  const file = databases.find(({ name }) => name === 'main')?.['file'];
  if (typeof file === 'string' && file !== '') return file;
  return refuse(
    'is in memory, so only the connection that made it can reach it; give fromSqlite() a database in a file',
  );
}

function refuse(message: string): never {
  throw new ConfigurationError([{ key: 'database', message }]);
}
