import type { SqlConnection, SqlParameter } from '@portico/sql';

/** A range of rows of a table, in the order of their ids. */
export interface CountedRows {
  /** How many rows meet the condition. */
  readonly living: number;
  /** The id of the last row. Null if there are no more rows. */
  readonly last: string | null;
}

/**
 * Reads the first `limit` rows after this key in one statement, in the order of the primary key.
 * Returns how many meet the condition, and where to continue. The cost depends only on the limit,
 * not on the size of the table.
 */
export async function countRows(
  database: SqlConnection,
  [table, key]: readonly [table: string, key: string],
  [condition, parameters]: readonly [condition: string, parameters: readonly SqlParameter[]],
  after: string,
  limit: number,
): Promise<CountedRows> {
  // MySQL returns a sum as text.
  const { rows } = await database.execute<{
    seen: number;
    living: number | string | null;
    last: string | null;
  }>(
    `SELECT COUNT(*) AS seen, SUM(living) AS living, MAX(found) AS last FROM
      (SELECT ${key} AS found, CASE WHEN ${condition} THEN 1 ELSE 0 END AS living FROM ${table}
        WHERE ${key} > ? ORDER BY ${key} LIMIT ${limit}) AS part`,
    [...parameters, after],
  );
  const { seen, living, last } = rows[0] ?? { seen: 0, living: 0, last: null };
  return { living: Number(living ?? 0), last: seen < limit ? null : last };
}
