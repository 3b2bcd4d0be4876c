import { type Database, getDialect, type SqlConnection, type SqlParameter } from '@portico/sql';

export async function exists(
  connection: SqlConnection,
  table: string,
  key: string,
  value: string,
): Promise<boolean> {
  const { rows } = await connection.execute(`SELECT 1 FROM ${table} WHERE ${key} = ?`, [value]);
  return rows.length > 0;
}

/** `columns` is a list, for example `id, scope`. */
export function insertInto(table: string, columns: string): string {
  return `INSERT INTO ${table} (${columns}) VALUES (${columns.replaceAll(/\w+/g, '?')})`;
}

export function placeholders(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}

export const HAS_OPENID =
  "scope = 'openid' OR scope LIKE 'openid %' OR scope LIKE '% openid' OR scope LIKE '% openid %'";

/** Splits a list that is separated by spaces. */
export function words(text: string): string[] {
  return text === '' ? [] : text.split(' ');
}

/**
 * Makes an earlier revocation durable. Call this if a statement found no row to revoke. If the
 * engine's reads may return data that is not durable yet, writes the revocation again.
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

/**
 * Makes an earlier removal of a row durable. Call this if a DELETE found no row. An earlier call
 * may have removed the row before the standbys received the change.
 */
export async function confirmRemoval(database: Database, table: string): Promise<void> {
  const confirm = getDialect(database).awaitEarlierCommits(table);
  if (confirm !== null) await database.execute(confirm);
}

/** For example `['expires_at', '< ?', [now]]`. */
export type Condition = readonly [
  column: string,
  test: string,
  parameters: readonly SqlParameter[],
];

/**
 * Returns the keys of at most `limit` matching rows, in the order of the condition's column.
 *
 * Do not remove this order. PostgreSQL plans the statement without its values and expects that a
 * third of the table matches. Without the order, it would read the whole table and not the index.
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
 * Removes at most `limit` matching rows. Not every engine has DELETE with a limit, so this reads
 * the keys first.
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

/** Removes the rows that still match the condition. Returns their number. */
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
 * Reads the first `limit` rows after this key, and sets the outcome of open ones to `void`. Returns
 * their number, and the last key read. The key is null at the end.
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
