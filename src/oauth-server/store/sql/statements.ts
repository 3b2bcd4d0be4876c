import type { SqlConnection } from '../../../sql/contract.ts';

/** What the tables' files share. */

export async function exists(
  connection: SqlConnection,
  table: string,
  key: string,
  value: string,
): Promise<boolean> {
  const { rows } = await connection.execute(`SELECT 1 FROM ${table} WHERE ${key} = ?`, [value]);
  return rows.length > 0;
}

export function placeholders(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}

/** The words of a column that keeps a list of them. */
export function words(text: string): string[] {
  return text === '' ? [] : text.split(' ');
}

/** The keys are read first and removed by name: a DELETE with a limit is not something that all engines have. */
export async function expiredKeys(
  connection: SqlConnection,
  table: string,
  key: string,
  expiredBefore: number,
  limit: number,
): Promise<readonly string[]> {
  const { rows } = await connection.execute<{ expired_key: string }>(
    `SELECT ${key} AS expired_key FROM ${table} WHERE expires_at < ? ORDER BY expires_at LIMIT ${limit}`,
    [expiredBefore],
  );
  return rows.map((row) => row.expired_key);
}

export async function removeExpired(
  connection: SqlConnection,
  table: string,
  key: string,
  expiredBefore: number,
  limit: number,
): Promise<number> {
  const keys = await expiredKeys(connection, table, key, expiredBefore, limit);
  if (keys.length === 0) return 0;
  const { affected } = await connection.execute(
    `DELETE FROM ${table} WHERE ${key} IN (${placeholders(keys)}) AND expires_at < ?`,
    [...keys, expiredBefore],
  );
  return affected;
}
