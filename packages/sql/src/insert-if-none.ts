import type { Database, SqlParameter } from './contract.ts';
import { getDialect } from './engines.ts';

/**
 * Inserts `row`, for example `t (k, v) VALUES (?, ?)`, unless a row with the same `key`, for
 * example `(k)`, exists. Returns whether it inserted the row. Rejects if the database's response
 * was lost.
 *
 * @example
 * const isNew = await insertIfNone(database, 'seen (id) VALUES (?)', '(id)', [id]);
 */
export async function insertIfNone(
  database: Database,
  row: string,
  key: string,
  values: readonly SqlParameter[],
): Promise<boolean> {
  const statement = getDialect(database).insertIfNone(row, key);
  return (await database.execute(statement, values)).affected === 1;
}
