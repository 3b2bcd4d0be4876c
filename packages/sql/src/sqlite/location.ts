import type { DatabaseSync } from 'node:sqlite';
import { ConfigurationError } from '../errors.ts';

/**
 * The file of a connection, absolute. Throws a ConfigurationError for a database that no other connection can reach, and for one of
 * another library. That brings a SQLite of its own, and two of those in one process do not see each other's locks on a file, which
 * belong to the process: a write that was answered is lost as soon as both write.
 */
export function fileOf(database: DatabaseSync): string {
  const sqlite = process.getBuiltinModule('node:sqlite');
  // Whoever writes JavaScript gives what they have.
  if (!((database as unknown) instanceof sqlite.DatabaseSync)) {
    refuse(
      "is no DatabaseSync of node:sqlite. Another library on the same file does not see Portico's locks, and each loses what the " +
        'other writes: leave `database` out, and give Portico a file of its own (database_url)',
    );
  }
  const databases = database.prepare('PRAGMA database_list').all();
  const file = databases.find(({ name }) => name === 'main')?.['file'];
  if (typeof file === 'string' && file !== '') return file;
  return refuse(
    'is in memory, where only the connection that made it can reach it; give fromSqlite() one that is in a file',
  );
}

function refuse(message: string): never {
  throw new ConfigurationError([{ key: 'database', message }]);
}
