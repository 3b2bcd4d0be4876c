import type { BorrowedDatabase, BorrowingOptions } from '../opened.ts';
import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { borrowed, type EngineOpener } from '../opening.ts';
import { openSqlite } from './engine.ts';
import { getFile } from './location.ts';

export const sqliteOpener: EngineOpener = {
  dialect: 'sqlite',
  schemes: ['sqlite'],
  open({ rest }, { directory }) {
    // Reject a path after two slashes, because it could be relative or absolute. After three
    // slashes, it is always absolute.
    if (rest === '' || /^\/\/(?!\/)/.test(rest)) return null;
    const file =
      rest === ':memory:' ? rest : path.resolve(directory, rest.replace(/^\/\/(?=\/)/, ''));
    return () => openSqlite(file);
  },
};

/**
 * Creates a store on the file that your own connection uses. The connection must be a
 * `DatabaseSync` from `node:sqlite`. Portico opens a separate connection to the file, because on a
 * shared connection, your statements would become part of Portico's transactions. Throws a
 * ConfigurationError for an in-memory database, and for a connection from another library, for
 * example `better-sqlite3`.
 *
 * @example
 * const database = fromSqlite(new DatabaseSync('storage/shop.sqlite'));
 */
export function fromSqlite(
  database: DatabaseSync,
  options: BorrowingOptions = {},
): BorrowedDatabase {
  const file = getFile(database);
  return borrowed(options, () => ({
    dialect: 'sqlite',
    engine: () => openSqlite(file, { isBorrowed: true }),
    store: null,
  }));
}
