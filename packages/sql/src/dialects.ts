import type { SqlDialect } from './contract.ts';
import type { Dialect, OfDialect } from './dialect.ts';
import { MYSQL } from './mysql/dialect.ts';
import { POSTGRES } from './postgres/dialect.ts';
import { SQLITE } from './sqlite/dialect.ts';

/**
 * The engines by name. A new engine is a folder, its name in `SqlDialect`, a line here and one in
 * `open-database.ts`.
 */
export const DIALECTS: Readonly<Record<SqlDialect, Dialect>> = {
  sqlite: SQLITE,
  postgres: POSTGRES,
  mysql: MYSQL,
};

/** How this database's engine writes SQL. */
export function getDialect({ dialect }: OfDialect): Dialect {
  return DIALECTS[dialect];
}
