import { ConfigurationError } from '../../../contracts/errors.ts';
import type { SqliteDatabase } from '../pools.ts';

/** The file of a connection, absolute. Throws a ConfigurationError for a database that no other connection can reach. */
export function fileOf(database: SqliteDatabase): string {
  const databases = database.prepare('PRAGMA database_list').all() as readonly {
    readonly name: string;
    readonly file: string | null;
  }[];
  const file = databases.find(({ name }) => name === 'main')?.file ?? '';
  if (file !== '') return file;
  const message =
    'is in memory, where only the connection that made it can reach it; give fromSqlite() one that is in a file';
  throw new ConfigurationError([{ key: 'database', message }]);
}
