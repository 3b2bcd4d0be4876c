import type { Database, SqlParameter } from './contract.ts';
import { dialectOf } from './dialects.ts';

/**
 * Inserts `row`, such as `t (k, v) VALUES (?, ?)`, unless there is one with the same `key`, such as `(k)`; whether it did. Where the
 * answer was lost, that is thrown.
 */
export async function insertIfNone(
  database: Pick<Database, 'dialect' | 'execute'>,
  row: string,
  key: string,
  values: readonly SqlParameter[],
): Promise<boolean> {
  const statement = dialectOf(database).insertIfNone(row, key);
  return (await database.execute(statement, values)).affected === 1;
}
