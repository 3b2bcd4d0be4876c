import { type Database, getDialect, type SqlConnection, type SqlParameter } from '@portico/sql';
import { insertInto } from './statements.ts';

/**
 * Statements that claim one row and insert another. The UPDATE changes only a row in the required
 * state. The INSERT runs only if the UPDATE changed a row.
 */
export interface ClaimAndInsert {
  readonly claim: string;
  readonly insert: string;
  /** Both statements in one. Null if the engine needs a transaction. */
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
   * Runs before the claim in the same transaction. If it returns false, neither statement runs. Its
   * own writes stay. Its first statement must be a write.
   */
  readonly first?: (connection: SqlConnection) => Promise<boolean>;
  readonly insert: readonly SqlParameter[];
  /**
   * Called if the connection was lost before the store responded. Returns true if the row was
   * inserted. After false, a lost statement cannot insert the row later.
   */
  readonly tookEffect: () => Promise<boolean>;
}

/**
 * Updates one row and inserts another, or does neither. Returns false if no row was in the required
 * state, or if `first` returned false.
 *
 * Without `first`, the UPDATE is the first statement of its transaction. Do not read before it. On
 * MySQL, a read would fix a snapshot, which may not include a recent revocation. On other engines,
 * it could cause a deadlock.
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
