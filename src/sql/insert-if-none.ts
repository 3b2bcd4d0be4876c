import type { Database, SqlParameter } from './contract.ts';

/** Inserts `row`, such as `t (k, v) VALUES (?, ?)`, unless there is one with the same `key`, such as `(k)`. */
export async function insertIfNone(
  database: Pick<Database, 'dialect' | 'execute'>,
  row: string,
  key: string,
  values: readonly SqlParameter[],
): Promise<void> {
  const statement =
    database.dialect === 'mysql'
      ? `INSERT IGNORE INTO ${row}`
      : `INSERT INTO ${row} ON CONFLICT ${key} DO NOTHING`;
  await database.execute(statement, values);
}
