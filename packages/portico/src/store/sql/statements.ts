import { type Database, getDialect, type SqlConnection, type SqlParameter } from '@portico/sql';

/** Whether a row with this value exists. */

export async function exists(
  connection: SqlConnection,
  table: string,
  key: string,
  value: string,
): Promise<boolean> {
  const { rows } = await connection.execute(`SELECT 1 FROM ${table} WHERE ${key} = ?`, [value]);
  return rows.length > 0;
}

/** Returns a statement that inserts a row with these columns, for example `id, scope`. */
export function insertInto(table: string, columns: string): string {
  return `INSERT INTO ${table} (${columns}) VALUES (${columns.replaceAll(/\w+/g, '?')})`;
}

export function placeholders(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}

/** Matches rows whose scopes include `openid`. */
export const HAS_OPENID =
  "scope = 'openid' OR scope LIKE 'openid %' OR scope LIKE '% openid' OR scope LIKE '% openid %'";

/** Splits a list that is separated by spaces. */
export function words(text: string): string[] {
  return text === '' ? [] : text.split(' ');
}

/**
 * Makes an earlier revocation durable. Call this if a statement found no row to revoke. On engines
 * whose reads may return data that is not durable yet, writes the revocation again unchanged.
 */
export async function confirmRevocation(
  database: Database,
  table: string,
  where: string,
  parameters: readonly SqlParameter[],
): Promise<void> {
  if (getDialect(database).readsAreForGood) return;
  await database.execute(`UPDATE ${table} SET revoked_at = revoked_at WHERE ${where}`, parameters);
}

/** A condition on a row, for example `['expires_at', '< ?', [now]]`. */
export type Condition = readonly [
  column: string,
  test: string,
  parameters: readonly SqlParameter[],
];

/**
 * Returns the keys of at most `limit` rows that match the condition, ordered by the condition's
 * column. Do not remove this order. PostgreSQL plans the statement without its values and expects
 * that a third of the table matches. Without the order, it would read the whole table instead of
 * the index.
 */
export async function keysWhere(
  connection: SqlConnection,
  [table, key]: readonly [table: string, key: string],
  [column, test, parameters]: Condition,
  limit: number,
): Promise<readonly string[]> {
  const { rows } = await connection.execute<{ found: string }>(
    `SELECT ${key} AS found FROM ${table} WHERE ${column} ${test} ORDER BY ${column} ` +
      `LIMIT ${limit}`,
    parameters,
  );
  return rows.map(({ found }) => found);
}

/**
 * Removes at most `limit` matching rows. Reads the keys first and removes rows by key, because not
 * every engine supports DELETE with a limit.
 */
export async function removeWhere(
  connection: SqlConnection,
  from: readonly [table: string, key: string],
  condition: Condition,
  limit: number,
): Promise<number> {
  return removeKeys(
    connection,
    from,
    await keysWhere(connection, from, condition, limit),
    condition,
  );
}

/**
 * Removes the rows with these keys if they still match the condition. Returns the number of removed
 * rows.
 */
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

/**
 * Reads the first `limit` rows after this key. Ends each row that has no outcome yet by setting its
 * outcome to `void`. Returns the number of rows that it ended, and the last key that it read. The
 * key is null if there are no more rows.
 */
export async function voidOpen(
  connection: SqlConnection,
  from: readonly [table: string, key: string],
  after: string,
  limit: number,
): Promise<{ readonly ended: number; readonly last: string | null }> {
  const [table, key] = from;
  const keys = await keysWhere(connection, from, [key, '> ?', [after]], limit);
  const last = keys.length < limit ? null : (keys.at(-1) ?? null);
  if (keys.length === 0) return { ended: 0, last };
  const { affected } = await connection.execute(
    `UPDATE ${table} SET outcome = 'void' WHERE ${key} IN (${placeholders(keys)}) AND outcome IS NULL`,
    keys,
  );
  return { ended: affected, last };
}
