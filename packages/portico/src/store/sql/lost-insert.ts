import { type Database, dialectOf } from '@portico/sql';

/**
 * Settles whether a row was inserted by a statement whose answer was lost (decision 9). A blocking row takes the key, unless the row is
 * there. If the lost statement arrives later, it meets that key and fails as a whole, with the claim it makes.
 */
export interface BlockingRow {
  readonly insert: string;
  /** How many columns of the blocking row are times: each is the time of the insert. */
  readonly times: number;
  /** Finds the row of the lost statement, by its key and a hash that no other row has. */
  readonly find: string;
}

/** `columns` are those of the blocking row, `id` first. Names of times end in `_at` or `_after`; the others get an empty text. */
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
 * Returns whether the row with this key and hash was inserted. If it was not, inserts a blocking row, so that it never will be.
 *
 * On every engine the insert waits until every other holder of the key has ended. It writes also where the row is there already: so a
 * yes is never a standby's, and PostgreSQL answers it once its standbys have what it rests on. It waits briefly, is asked again, and
 * leaves the connection to others in between.
 */
export function settleInsert(
  database: Database,
  { insert, times, find }: BlockingRow,
  { id, hash }: { readonly id: string; readonly hash: string },
  now: number,
): Promise<boolean> {
  const { waitBriefly, unlessThere } = dialectOf(database);
  return database.transaction(async (connection) => {
    if (waitBriefly !== null) await connection.execute(waitBriefly);
    const values = [id, ...Array.from({ length: times }, () => now)];
    await connection.execute(`${insert} ${unlessThere}`, values);
    return (await connection.execute(find, [id, hash])).rows.length > 0;
  });
}
