import type { SqlDialect } from './contract.ts';
import type { Dialect, OfDialect } from './dialect.ts';
import { MYSQL } from './mysql/dialect.ts';
import { POSTGRES } from './postgres/dialect.ts';
import { SQLITE } from './sqlite/dialect.ts';

/**
 * The engines by name. To add an engine:
 * 1. Create its folder, and add its name to `SqlDialect`.
 * 2. Add a line here and in `open-database.ts`.
 * 3. Add its URL to the error text in `open-database.ts`.
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
