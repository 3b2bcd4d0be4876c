import type { SqlDialect } from './contract.ts';
import type { OpenedDatabase } from './opened.ts';
import { ConfigurationError } from './errors.ts';
import { mysqlOpener } from './mysql/opening.ts';
import { opened, type DatabaseOptions, type EngineOpener } from './opening.ts';
import { postgresOpener } from './postgres/opening.ts';
import { sqliteOpener } from './sqlite/opening.ts';

/** Opens databases, for each engine in `dialects.ts`. */
const OPENERS: Readonly<Record<SqlDialect, EngineOpener>> = {
  sqlite: sqliteOpener,
  postgres: postgresOpener,
  mysql: mysqlOpener,
};

/**
 * Opens the store at a URL. The URL is `sqlite:<file>` (relative to the directory),
 * `sqlite::memory:`, `postgres://…`, `mysql://…` or `mariadb://…`. A PostgreSQL URL may contain
 * several servers: `postgres://…@one:5432,other:5432/…`. Connects at the first statement. Throws a
 * ConfigurationError for any other URL.
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
