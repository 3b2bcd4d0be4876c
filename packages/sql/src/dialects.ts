import type { SqlDialect } from './contract.ts';
import type { Dialect, OfDialect } from './dialect.ts';
import { MYSQL } from './mysql/dialect.ts';
import { POSTGRES } from './postgres/dialect.ts';
import { SQLITE } from './sqlite/dialect.ts';

/** The list of engines. */
const DIALECTS: Readonly<Record<SqlDialect, Dialect>> = { sqlite: SQLITE, postgres: POSTGRES, mysql: MYSQL };

/** How the engine of this database writes its SQL. */
export function dialectOf({ dialect }: OfDialect): Dialect {
  return DIALECTS[dialect];
}
