import { type Database, getDialect, type SqlConnection, type SqlParameter } from '@portico/sql';
import { insertInto } from './statements.ts';

/** An UPDATE that claims a row, and an INSERT that runs only if the UPDATE has changed the row. */
export interface ClaimAndInsert {
  readonly claim: string;
  readonly insert: string;
  /** Both as one statement. Null if the engine needs a transaction for them. */
  readonly together: string | null;
}

/**
 * `columns` are the new row's columns, such as `id, expires_at`. Names of time columns end in `_at`
 * or `_after`.
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
  /** What must hold before the claim. It begins with a write. */
  readonly first?: (connection: SqlConnection) => Promise<boolean>;
  readonly insert: readonly SqlParameter[];
  /**
   * Returns whether the claim took effect. False means that it never will. Called if the connection
   * was lost before the store answered.
   */
  readonly tookEffect: () => Promise<boolean>;
}

/**
 * Claims one row and inserts another one. Does both or neither. Returns false if there was no row
 * to claim.
 *
 * The claim is a write, and the first statement of its transaction. On MySQL, a read before the
 * claim would fix a snapshot, and so could miss a revocation. On other engines, it could cause a
 * deadlock.
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
