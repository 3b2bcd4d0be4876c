import type { BorrowedDatabase, BorrowingOptions } from '../opened.ts';
import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { borrowed, type EngineOpener } from '../opening.ts';
import { openSqlite } from './engine.ts';
import { fileOf } from './location.ts';

export const sqliteOpener: EngineOpener = {
  dialect: 'sqlite',
  schemes: ['sqlite'],
  open({ rest }, { directory }) {
    if (rest === '') return null;
    const file = rest === ':memory:' ? rest : path.resolve(directory, rest.replace(/^\/\/(?=\/)/, ''));
    return () => openSqlite(file);
  },
};

/**
 * The file of the application's own connection as the store: a `DatabaseSync` of `node:sqlite`. Portico opens a connection of its own
 * to the same file, since in a shared one the application's statements would land in Portico's transactions. Throws a
 * ConfigurationError for a database in memory, and for one of another library, such as `better-sqlite3`.
 */
export function fromSqlite(database: DatabaseSync, options: BorrowingOptions = {}): BorrowedDatabase {
  const file = fileOf(database);
  return borrowed(options, () => ({
    dialect: 'sqlite',
    engine: () => openSqlite(file, { isBorrowed: true }),
    store: null,
  }));
}
