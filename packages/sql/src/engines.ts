import type { SqlDialect } from './contract.ts';
import type { Dialect, OfDialect } from './dialect.ts';
import { MYSQL } from './mysql/dialect.ts';
import { POSTGRES } from './postgres/dialect.ts';
import { SQLITE } from './sqlite/dialect.ts';

/**
 * The engines by name. For a new engine, create its folder, add its name to `SqlDialect`, and add a
 * line here and in `open-database.ts` (see `Engine`).
 */
export const DIALECTS: Readonly<Record<SqlDialect, Dialect>> = {
  sqlite: SQLITE,
  postgres: POSTGRES,
  mysql: MYSQL,
};

/** Returns the SQL dialect of a database's engine. */
export function getDialect({ dialect }: OfDialect): Dialect {
  return DIALECTS[dialect];
}
