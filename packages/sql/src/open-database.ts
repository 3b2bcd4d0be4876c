import type { SqlDialect } from './contract.ts';
import type { OpenedDatabase } from './opened.ts';
import { ConfigurationError } from './errors.ts';
import { mysqlOpener } from './mysql/opening.ts';
import { opened, type DatabaseOptions, type EngineOpener } from './opening.ts';
import { postgresOpener } from './postgres/opening.ts';
import { sqliteOpener } from './sqlite/opening.ts';

/** The object that opens the databases of each engine. */
const OPENERS: Readonly<Record<SqlDialect, EngineOpener>> = {
  sqlite: sqliteOpener,
  postgres: postgresOpener,
  mysql: mysqlOpener,
};

/**
 * Opens the store at a URL. Throws a ConfigurationError unless the URL has one of these forms:
 * - `sqlite:<file>`, where a relative path starts at the option `directory`
 * - `sqlite::memory:`
 * - `postgres://…` or `postgresql://…`, which may contain several servers:
 *   `postgres://…@one:5432,other:5432/…`
 * - `mysql://…` or `mariadb://…`
 *
 * The store connects at its first statement. If the driver (`pg` or `mysql2`) is missing, that
 * statement rejects with a ConfigurationError.
 *
 * @example
 * const database = openDatabase('sqlite:storage/app.sqlite', { directory: import.meta.dirname });
 */
export function openDatabase(url: string, options: DatabaseOptions): OpenedDatabase {
  const [, scheme = '', rest = ''] = /^([a-z]+):(.*)$/s.exec(url) ?? [];
  const opener = Object.values(OPENERS).find(({ schemes }) => schemes.includes(scheme));
  const engine = opener?.open({ url, rest }, options) ?? null;
  if (opener !== undefined && engine !== null) return opened(opener.dialect, engine, options);
  throw new ConfigurationError([
    {
      key: 'database_url',
      message: 'must be sqlite:<file>, postgres://… or mysql://… (DATABASE_URL sets it)',
    },
  ]);
}
