import type { SqlDialect } from './contract.ts';
import type { Dialect, OfDialect } from './dialect.ts';
import { MYSQL } from './mysql/dialect.ts';
import { POSTGRES } from './postgres/dialect.ts';
import { SQLITE } from './sqlite/dialect.ts';

/**
 * The engines by name. To add an engine, create its folder and add its name to `SqlDialect`. Then
 * add a line here and in `open-database.ts`. Also add its URL to the error text in
 * `open-database.ts`.
 */
export const DIALECTS: Readonly<Record<SqlDialect, Dialect>> = {
  sqlite: SQLITE,
  postgres: POSTGRES,
  mysql: MYSQL,
};

/** Returns the SQL dialect for a database's engine. */
export function getDialect({ dialect }: OfDialect): Dialect {
  return DIALECTS[dialect];
}
