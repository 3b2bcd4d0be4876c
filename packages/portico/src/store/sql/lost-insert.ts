import { type Database, getDialect, type SqlConnection } from '@portico/sql';

/**
 * Statements that find out whether a lost INSERT added its row (decision 9). If not, they insert a
 * blocking row with the same key. The lost INSERT then fails if it runs later.
 */
export interface BlockingRow {
  readonly insert: string;
  /** The number of time columns. All of them get the time of the insert. */
  readonly times: number;
  /**
   * Finds the lost statement's row by its key and its hash. A blocking row has an empty hash or
   * none.
   */
  readonly find: string;
}

/**
 * Describes a table's blocking row. `columns` starts with `id`. The names of time columns end in
 * `_at` or `_after`. All other columns get an empty string.
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
 * Returns true if the row with this key and hash was inserted. If not, inserts a blocking row, so
 * that the lost INSERT cannot add the row later.
 *
 * On every engine, this insert waits until all other transactions with this key have ended. On
 * PostgreSQL, each attempt waits only briefly. Other work can then use the connection before the
 * next attempt.
 *
 * An existing row is written again. So `true` never comes from an outdated standby, and PostgreSQL
 * responds only after its standbys have the row.
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

/** If the key is taken, writes the existing row again. */
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
