import { type Database, getDialect, type SqlConnection } from '@portico/sql';

/**
 * Finds out whether a statement inserted its row if the answer of the store was lost (decision 9).
 * If the row does not exist, this code inserts a blocking row with its key. If the lost statement
 * arrives later, it finds the key taken. It then fails as a whole, including its UPDATE.
 */
export interface BlockingRow {
  readonly insert: string;
  /** The number of time columns in the blocking row. Each column gets the time of the insert. */
  readonly times: number;
  /** Finds the row of the lost statement by its key and by a hash that no other row has. */
  readonly find: string;
}

/**
 * Describes the blocking row of a table. `columns` are the row's columns, `id` first. The names of
 * time columns end in `_at` or `_after`. All other columns get an empty text.
 */
export function blockingRow(table: string, columns: string, hashColumn: string): BlockingRow {
  const isTime = (name: string) => /_(?:at|after)$/.test(name);
  const values = columns.replaceAll(/\w+/g, (name) => (name === 'id' || isTime(name) ? '?' : "''"));
  return {
    insert: `INSERT INTO ${table} (${columns}) VALUES (${values})`,
    times: columns.split(', ').filter(isTime).length,
    find: `SELECT 1 FROM ${table} WHERE id = ? AND ${hashColumn} = ?`,
  };
}

/**
 * Returns whether the row with this key and hash was inserted. If it was not, inserts a blocking
 * row, so that the lost statement cannot insert it later.
 *
 * On every engine, the insert of the blocking row waits until every other transaction with the key
 * has ended. The function writes even if the row exists. So a `true` never comes from a standby,
 * and PostgreSQL answers only after its standbys have the row. Each attempt waits only briefly and
 * is then repeated, so that others can use the connection in between.
 */
export function settleInsert(
  database: Database,
  row: BlockingRow,
  { id, hash }: { readonly id: string; readonly hash: string },
  now: number,
): Promise<boolean> {
  const { waitBriefly } = getDialect(database);
  return database.transaction(async (connection) => {
    if (waitBriefly !== null) await connection.execute(waitBriefly);
    await blockInsert({ connection, database }, row, id, now);
    return (await connection.execute(row.find, [id, hash])).rows.length > 0;
  });
}

/**
 * Inserts a blocking row with this key. If the key is taken, writes the existing row again,
 * unchanged.
 */
export async function blockInsert(
  { connection, database }: { readonly connection: SqlConnection; readonly database: Database },
  { insert, times }: BlockingRow,
  id: string,
  now: number,
): Promise<void> {
  const { unlessThere } = getDialect(database);
  const values = [id, ...Array.from({ length: times }, () => now)];
  await connection.execute(`${insert} ${unlessThere}`, values);
}
