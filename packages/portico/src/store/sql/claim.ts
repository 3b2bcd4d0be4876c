import { type Database, getDialect, type SqlConnection, type SqlParameter } from '@portico/sql';
import { insertInto } from './statements.ts';

/**
 * Statements that claim one row and insert another. The UPDATE changes a row only if the row is in
 * the required state. The INSERT runs only if the UPDATE changed a row.
 */
export interface ClaimAndInsert {
  readonly claim: string;
  readonly insert: string;
  /** The two statements, combined into one statement. Null if the engine needs a transaction. */
  readonly together: string | null;
}

/**
 * `columns` lists the columns of the new row, for example `id, expires_at`. The names of time
 * columns end in `_at` or `_after`.
 */
export function claimAndInsert(
  database: Database,
  claim: string,
  table: string,
  columns: string,
): ClaimAndInsert {
  const together = getDialect(database).claimAndInsert(claim, table, columns);
  return { claim, insert: insertInto(table, columns), together };
}

export interface ClaimParameters {
  readonly claim: readonly SqlParameter[];
  /**
   * A check that runs before the claim in the same transaction. If it returns false, the claim and
   * the INSERT do not run. The check's own writes are kept. Its first statement must be a write.
   */
  readonly first?: (connection: SqlConnection) => Promise<boolean>;
  readonly insert: readonly SqlParameter[];
  /**
   * Called if the connection was lost before the store responded. Returns whether the row was
   * inserted. If it returns false, a lost statement cannot insert the row later.
   */
  readonly tookEffect: () => Promise<boolean>;
}

/**
 * Updates one row and inserts another, or does neither. Returns false if no row was in the state
 * that the UPDATE requires, or if `first` returned false.
 *
 * Without `first`, the UPDATE is the first statement of its transaction. Do not read before it. On
 * MySQL, the read would fix a snapshot of the data, which may not include a recent revocation. On
 * other engines, the read could cause a deadlock.
 */
export async function claimThenInsert(
  database: Database,
  { claim, insert, together }: ClaimAndInsert,
  parameters: ClaimParameters,
): Promise<boolean> {
  const { tookEffect, first } = parameters;
  if (together !== null && first === undefined) {
    const all = [...parameters.claim, ...parameters.insert];
    return (await database.execute(together, all, tookEffect)).affected === 1;
  }
  return database.transaction(
    async (connection) => {
      if (first !== undefined && !(await first(connection))) return false;
      const { affected } = await connection.execute(claim, parameters.claim);
      if (affected !== 1) return false;
      await connection.execute(insert, parameters.insert);
      return true;
    },
    async (_, claimed) => claimed && tookEffect(),
  );
}
