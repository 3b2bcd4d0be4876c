import { type Database, dialectOf, type SqlConnection, type SqlParameter } from '@portico/sql';

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

/** The statement that inserts a row with these columns, such as `id, scope`. */
export function insertInto(table: string, columns: string): string {
  return `INSERT INTO ${table} (${columns}) VALUES (${columns.replaceAll(/\w+/g, '?')})`;
}

export function placeholders(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}

/** Whether `openid` is among the scopes of a row. */
export const HAS_OPENID =
  "scope = 'openid' OR scope LIKE 'openid %' OR scope LIKE '% openid' OR scope LIKE '% openid %'";

/** The words of a column that keeps a list of them. */
export function words(text: string): string[] {
  return text === '' ? [] : text.split(' ');
}

/**
 * Resolves once it is for good that there is nothing to revoke: where a read may show what is lost later, the revocation is written
 * once more as it is.
 */
export async function confirmRevocation(
  database: Database,
  table: string,
  where: string,
  parameters: readonly SqlParameter[],
): Promise<void> {
  if (dialectOf(database).readsAreForGood) return;
  await database.execute(`UPDATE ${table} SET revoked_at = revoked_at WHERE ${where}`, parameters);
}

/** What applies to a row, such as `['expires_at', '< ?', [now]]`. */
export type Condition = readonly [column: string, test: string, parameters: readonly SqlParameter[]];

/**
 * The keys of at most `limit` rows to which the condition applies. In the order of its column, or PostgreSQL, which prepares a
 * statement without its values, takes a third of the table for expired and the whole of it for quicker to read than its index.
 */
export async function keysWhere(
  connection: SqlConnection,
  [table, key]: readonly [table: string, key: string],
  [column, test, parameters]: Condition,
  limit: number,
): Promise<readonly string[]> {
  const { rows } = await connection.execute<{ found: string }>(
    `SELECT ${key} AS found FROM ${table} WHERE ${column} ${test} ORDER BY ${column} LIMIT ${limit}`,
    parameters,
  );
  return rows.map(({ found }) => found);
}

/** Removes at most `limit` of them: read first and removed by name, since not every engine has a DELETE with a limit. */
export async function removeWhere(
  connection: SqlConnection,
  from: readonly [table: string, key: string],
  condition: Condition,
  limit: number,
): Promise<number> {
  return removeKeys(connection, from, await keysWhere(connection, from, condition, limit), condition);
}

/** Removes those of these rows to which the condition still applies. */
export async function removeKeys(
  connection: SqlConnection,
  [table, key]: readonly [table: string, key: string],
  keys: readonly string[],
  [column, test, parameters]: Condition,
): Promise<number> {
  if (keys.length === 0) return 0;
  const statement = `DELETE FROM ${table} WHERE ${key} IN (${placeholders(keys)}) AND ${column} ${test}`;
  return (await connection.execute(statement, [...keys, ...parameters])).affected;
}
