import { COLUMN_TYPES } from './column-types.ts';
import type { Database, Migration, SqlConnection } from './contracts.ts';

export interface MigrationState {
  readonly name: string;
  /** ISO 8601; null for one that is still to be applied. */
  readonly appliedAt: string | null;
}

/**
 * Applies what is missing, in the order of the names; answers the names newly applied. Of two processes that migrate
 * at once, one does it and the other waits and finds it done. On SQLite and PostgreSQL it is all or nothing; MySQL
 * commits each change of the schema by itself, so there a failed step is named and the ones before it stay.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[],
): Promise<readonly string[]> {
  const ordered = inOrder(migrations);
  return database.transaction(async (connection) => {
    await lock(database, connection);
    try {
      await createTable(database, connection);
      const applied = await appliedMigrations(connection);
      const missing = ordered.filter(({ name }) => !applied.has(name));
      for (const migration of missing) {
        await migration.up(database, connection);
        await connection.execute('INSERT INTO portico_migrations (name, applied_at) VALUES (?, ?)', [
          migration.name,
          Date.now(),
        ]);
      }
      return missing.map(({ name }) => name);
    } finally {
      await unlock(database, connection);
    }
  });
}

/** Every migration with the time it was applied. Changes nothing but the migrations' own table. */
export async function migrationStatus(
  database: Database,
  migrations: readonly Migration[],
): Promise<readonly MigrationState[]> {
  await createTable(database, database);
  const applied = await appliedMigrations(database);
  return inOrder(migrations).map(({ name }) => {
    const at = applied.get(name);
    return { name, appliedAt: at === undefined ? null : new Date(at).toISOString() };
  });
}

function inOrder(migrations: readonly Migration[]): readonly Migration[] {
  const ordered = migrations.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const twice = ordered.find(({ name }, index) => ordered[index + 1]?.name === name);
  if (twice !== undefined) throw new Error(`Two migrations are named ${twice.name}`);
  return ordered;
}

async function createTable(database: Database, connection: SqlConnection): Promise<void> {
  const { identifier } = COLUMN_TYPES[database.dialect];
  await connection.execute(
    `CREATE TABLE IF NOT EXISTS portico_migrations (name ${identifier} NOT NULL PRIMARY KEY, applied_at BIGINT NOT NULL)`,
  );
}

async function appliedMigrations(connection: SqlConnection): Promise<ReadonlyMap<string, number>> {
  const { rows } = await connection.execute<{ name: string; applied_at: number }>(
    'SELECT name, applied_at FROM portico_migrations',
  );
  return new Map(rows.map((row) => [row.name, row.applied_at]));
}

/** An arbitrary number that all processes of Portico agree on. */
const ADVISORY_LOCK = 1_347_375_956;
const LOCK_NAME = 'portico_migrations';
const LOCK_SECONDS = 600;

/** On SQLite the immediate transaction is the lock; PostgreSQL's ends with the transaction; MySQL's is the session's. */
async function lock(database: Database, connection: SqlConnection): Promise<void> {
  if (database.dialect === 'postgres') {
    await connection.execute(`SELECT pg_advisory_xact_lock(${ADVISORY_LOCK})`);
  } else if (database.dialect === 'mysql') {
    const { rows } = await connection.execute<{ taken: number | null }>('SELECT GET_LOCK(?, ?) AS taken', [
      LOCK_NAME,
      LOCK_SECONDS,
    ]);
    if (rows[0]?.taken !== 1)
      throw new Error('Another process is migrating this database and does not finish');
  }
}

async function unlock(database: Database, connection: SqlConnection): Promise<void> {
  if (database.dialect === 'mysql') await connection.execute('SELECT RELEASE_LOCK(?)', [LOCK_NAME]);
}
