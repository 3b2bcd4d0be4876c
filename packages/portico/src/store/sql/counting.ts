import type { SqlConnection, SqlParameter } from '@portico/sql';

/** The result of counting a range of rows, ordered by id. */
export interface CountedRows {
  /** The number of rows that match the condition. */
  readonly living: number;
  /** The id of the last row that was read. Null if no more rows follow. */
  readonly last: string | null;
}

/**
 * Reads the first `limit` rows after this key in one statement, ordered by primary key. Returns how
 * many match the condition and where to continue. The cost depends only on the limit, not on the
 * size of the table.
 */
export async function countRows(
  database: SqlConnection,
  [table, key]: readonly [table: string, key: string],
  [condition, parameters]: readonly [condition: string, parameters: readonly SqlParameter[]],
  after: string,
  limit: number,
): Promise<CountedRows> {
  // MySQL returns sums as strings.
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
