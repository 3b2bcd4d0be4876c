import { setTimeout } from 'node:timers/promises';
import { findColumnTypes } from './column-types.ts';
import type { Database, SqlConnection } from './contract.ts';
import {
  BEGUN,
  createTable,
  knownMigrations,
  MIGRATIONS_TABLE,
  missingOf,
  sorted,
} from './known-migrations.ts';
import {
  quotedSchema,
  type BegunStep,
  type ColumnTypes,
  type Migration,
  type MigrationState,
  type SchemaConnection,
} from './schema.ts';

/**
 * Applies the steps that are missing, in the order of their names; returns the names newly applied. When two processes
 * migrate at once, one does it, and the other waits and finds it done. On SQLite and PostgreSQL it is all or nothing. MySQL
 * commits each change of the schema by itself: there a step that was cut off stays marked as begun, and is run again.
 *
 * Steps may take long, so use a store without the time limits that requests have. `onStep` is told of each before it begins, inside
 * of the transaction: it must not use the store.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[],
  onStep: (step: BegunStep) => void = () => {},
): Promise<readonly string[]> {
  const ordered = sorted(migrations);
  return waitForLock(database, async (connection) => {
    await lock(database, connection);
    try {
      const types = await findColumnTypes(database.dialect, connection);
      await createSchema(database, connection);
      await connection.execute(createTable(types));
      const known = await knownMigrations(database.dialect, connection);
      const missing = missingOf(ordered, known);
      for (const [index, migration] of missing.entries()) {
        onStep({
          name: migration.name,
          number: index + 1,
          of: missing.length,
          isFirst: known.size === 0,
        });
        const resumed = known.has(migration.name);
        if (!resumed) await begin(connection, migration);
        await migration.up(schemaOn(database, connection, types, resumed));
        await finish(connection, migration);
      }
      return missing.map(({ name }) => name);
    } finally {
      await unlock(database, connection);
    }
  });
}

/** On SQLite the lock of another process's migration lasts longer than a statement waits for it. */
async function waitForLock<T>(
  database: Database,
  work: (connection: SqlConnection) => Promise<T>,
): Promise<T> {
  const until = performance.now() + LOCK_SECONDS * 1000;
  for (;;) {
    try {
      return await database.transaction(work);
    } catch (error) {
      const isBusy = database.dialect === 'sqlite' && database.isUnavailable(error);
      if (!isBusy || performance.now() > until) throw error;
      await setTimeout(100);
    }
  }
}

/** Every migration with the time it was applied. Changes nothing. */
export async function migrationStatus(
  database: Database,
  migrations: readonly Migration[],
): Promise<readonly MigrationState[]> {
  const known = await knownMigrations(database.dialect, database);
  return sorted(migrations).map(({ name }) => {
    const at = known.get(name) ?? BEGUN;
    return { name, appliedAt: at === BEGUN ? null : new Date(at).toISOString() };
  });
}

/** The names of the steps that are still to be applied, of those whose names begin with the prefix. */
export function pendingSteps(steps: readonly MigrationState[], prefix = ''): readonly string[] {
  return steps.flatMap(({ name, appliedAt }) =>
    appliedAt === null && name.startsWith(prefix) ? [name] : [],
  );
}

/** Looked for first: who may not create schemas may still use one that somebody else has made. */
async function createSchema({ schema = null }: Database, connection: SqlConnection): Promise<void> {
  if (schema === null) return;
  const { rows } = await connection.execute('SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = ?', [
    schema,
  ]);
  if (rows.length === 0) await connection.execute(`CREATE SCHEMA ${quotedSchema(schema)}`);
}

async function begin(connection: SqlConnection, { name }: Migration): Promise<void> {
  await connection.execute(`INSERT INTO ${MIGRATIONS_TABLE} (name, applied_at) VALUES (?, ${BEGUN})`, [name]);
}

async function finish(connection: SqlConnection, { name }: Migration): Promise<void> {
  await connection.execute(`UPDATE ${MIGRATIONS_TABLE} SET applied_at = ? WHERE name = ?`, [
    Date.now(),
    name,
  ]);
}

/** MySQL: the table, column or key exists already, or is gone already, also under the name that it had. */
const DONE_BEFORE: ReadonlySet<unknown> = new Set([1050, 1054, 1060, 1061, 1091]);

function schemaOn(
  { dialect }: Database,
  connection: SqlConnection,
  types: ColumnTypes,
  resumed: boolean,
): SchemaConnection {
  return {
    dialect,
    types,
    execute: (sql, parameters) => connection.execute(sql, parameters),
    async change(statement) {
      try {
        await connection.execute(statement);
      } catch (error) {
        const code = error instanceof Error && 'errno' in error ? error.errno : null;
        if (!resumed || dialect !== 'mysql' || !DONE_BEFORE.has(code)) throw error;
      }
    },
  };
}

/** An arbitrary number that all processes of Portico agree on. */
const ADVISORY_LOCK = 1_347_375_956;
const LOCK_NAME = MIGRATIONS_TABLE;
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
