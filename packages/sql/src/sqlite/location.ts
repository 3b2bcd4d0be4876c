import type { DatabaseSync } from 'node:sqlite';
import { ConfigurationError } from '../errors.ts';

/**
 * Returns the absolute path of the file that a connection uses. Throws a ConfigurationError for a
 * database that no other connection can reach, for example one in memory.
 *
 * Also throws for a connection from another library, which contains its own copy of SQLite. File
 * locks belong to the process, so two copies of SQLite in one process do not see each other's
 * locks. If both wrote, a confirmed write could be lost.
 */
export function getFile(database: DatabaseSync): string {
  const sqlite = process.getBuiltinModule('node:sqlite');
  // Callers in JavaScript may pass any value.
  if (!((database as unknown) instanceof sqlite.DatabaseSync)) {
    refuse(
      'is not a DatabaseSync of node:sqlite. Another library does not see the locks that ' +
        'Portico sets on the file, so writes are lost: omit `database`, and give Portico a ' +
        'separate file (database_url)',
    );
  }
  const databases = database.prepare('PRAGMA database_list').all();
  const file = databases.find(({ name }) => name === 'main')?.['file'];
  if (typeof file === 'string' && file !== '') return file;
  return refuse(
    'is in memory, so only the connection that created it can use it; pass fromSqlite() a ' +
      'database in a file',
  );
}

function refuse(message: string): never {
  throw new ConfigurationError([{ key: 'database', message }]);
}
