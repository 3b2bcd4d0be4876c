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

/** Removes the rows of these keys, or of these keys to which the condition also applies; returns how many there were. */
export async function deleteByKey(
  connection: SqlConnection,
  table: string,
  key: string,
  keys: readonly string[],
  condition: { readonly sql: string; readonly value: number } | null = null,
): Promise<number> {
  if (keys.length === 0) return 0;
  const also = condition === null ? '' : ` AND ${condition.sql}`;
  const { affected } = await connection.execute(
    `DELETE FROM ${table} WHERE ${key} IN (${placeholders(keys)})${also}`,
    condition === null ? keys : [...keys, condition.value],
  );
  return affected;
}

/** Removes rows whose time has passed. They are read first and removed by name: not every engine has a DELETE with a limit. */
export async function removeExpired(
  connection: SqlConnection,
  table: string,
  key: string,
  expiredBefore: number,
  limit: number,
): Promise<number> {
  const keys = await expiredKeys(connection, table, key, 'expires_at', expiredBefore, limit);
  return deleteByKey(connection, table, key, keys, { sql: 'expires_at < ?', value: expiredBefore });
}

export async function expiredKeys(
  connection: SqlConnection,
  table: string,
  key: string,
  time: string,
  before: number,
  limit: number,
): Promise<readonly string[]> {
  const { rows } = await connection.execute<{ expired_key: string }>(
    `SELECT ${key} AS expired_key FROM ${table} WHERE ${time} < ? ORDER BY ${time} LIMIT ${limit}`,
    [before],
  );
  return rows.map((row) => row.expired_key);
}
