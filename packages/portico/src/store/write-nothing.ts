import { BEGUN, type Database, getDialect, MIGRATIONS_TABLE } from '@portico/sql';

/** A write that finds no row. A read-only server refuses it. */
const WRITE_NOTHING = "UPDATE oauth_clients SET client_id = client_id WHERE client_id = ''";

type WrittenStore = Pick<Database, 'dialect' | 'execute'> & Partial<Pick<Database, 'transaction'>>;

/**
 * Rejects if the store cannot be written to. Its tables must exist. An embedded engine shows only
 * at a commit that its disk is full, so a row is written and removed. A database server reports a
 * full disk itself, and would have to wait for its standbys.
 */
export function writeNothing(database: WrittenStore): Promise<unknown> {
  if (!getDialect(database).isEmbedded || database.transaction === undefined)
    return database.execute(WRITE_NOTHING);
  return database.transaction(async (connection) => {
    await connection.execute(`INSERT INTO ${MIGRATIONS_TABLE} (name, applied_at) VALUES ('', ${BEGUN})`);
    await connection.execute(`DELETE FROM ${MIGRATIONS_TABLE} WHERE name = ''`);
  });
}
