import type { Database, SqlParameter } from './contract.ts';
import { getDialect } from './engines.ts';

/**
 * Inserts `row`, for example `t (k, v) VALUES (?, ?)`, unless a row with the same `key`, for
 * example `(k)`, exists. Returns whether it inserted the row. Rejects if the database's response
 * was lost, unless `committed` then finds out that this statement inserted the row.
 *
 * @example
 * const isNew = await insertIfNone(database, 'seen (id) VALUES (?)', '(id)', [id]);
 */
export async function insertIfNone(
  database: Database,
  row: string,
  key: string,
  values: readonly SqlParameter[],
  committed?: () => Promise<boolean>,
): Promise<boolean> {
  const statement = getDialect(database).insertIfNone(row, key);
  return (await database.execute(statement, values, committed)).affected === 1;
}
