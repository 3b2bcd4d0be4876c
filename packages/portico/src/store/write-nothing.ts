import { BEGUN, type Database, getDialect, MIGRATIONS_TABLE } from '@portico/sql';

/** Changes no row. A read-only server refuses it. */
const WRITE_NOTHING = "UPDATE oauth_clients SET client_id = client_id WHERE client_id = ''";

/** An embedded engine also needs `transaction`, to detect a full disk. */
export type WrittenStore = Pick<Database, 'dialect' | 'execute'> &
  Partial<Pick<Database, 'transaction'>>;

/**
 * Rejects if the store is not writable. The store's tables must exist.
 *
 * An embedded engine reports a full disk only at a commit, so this writes a row and removes it. A
 * database server reports a full disk by itself. This writes no row there: the commit would have to
 * wait for the standbys.
 */
export function writeNothing(database: WrittenStore): Promise<unknown> {
  if (!getDialect(database).isEmbedded || database.transaction === undefined)
    return database.execute(WRITE_NOTHING);
  return database.transaction(async (connection) => {
    await connection.execute(
      `INSERT INTO ${MIGRATIONS_TABLE} (name, applied_at) VALUES ('', ${BEGUN})`,
    );
    await connection.execute(`DELETE FROM ${MIGRATIONS_TABLE} WHERE name = ''`);
  });
}
