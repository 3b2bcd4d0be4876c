import { setTimeout } from 'node:timers/promises';
import type { Database, SqlConnection } from './contract.ts';
import { getDialect } from './engines.ts';
import type { Dialect } from './dialect.ts';
import {
  BEGUN,
  createTable,
  knownMigrations,
  MIGRATIONS_TABLE,
  findMissing,
  sorted,
} from './known-migrations.ts';
import type {
  BegunStep,
  ColumnTypes,
  Migration,
  MigrationState,
  SchemaConnection,
} from './schema.ts';

/**
 * Applies the pending steps in the order of their names. Returns the names of the steps that it
 * applied. If two processes migrate at the same time, the second process waits for the first, at
 * most ten minutes. Rejects if two steps have the same name.
 *
 * On SQLite and PostgreSQL, either all steps are applied or none. MySQL commits each schema change
 * separately: an interrupted step stays marked as started, and runs again at the next migration.
 *
 * If the store has `withoutTimeout`, as an `OpenedDatabase` does, the steps have no time limit,
 * because schema changes can be slow. `onStep` is called before each step, inside the transaction.
 * It must not use the store.
 *
 * @example
 * const applied = await migrate(database, migrations);
 */
export async function migrate(
  store: Database & { withoutTimeout?(): Database },
  migrations: readonly Migration[],
  onStep: (step: BegunStep) => void = () => {},
): Promise<readonly string[]> {
  const database = store.withoutTimeout?.() ?? store;
  const ordered = sorted(migrations);
  const dialect = getDialect(database);
  return waitForLock(database, async (connection) => {
    if (!(await dialect.lock(connection, LOCK_NAME, LOCK_SECONDS)))
      throw new Error(
        'Another process is migrating this database and has not finished; try again later',
      );
    try {
      const types = await dialect.columnTypes(connection);
      if (typeof database.schema === 'string')
        await dialect.schemas?.create(connection, database.schema);
      await connection.execute(createTable(types));
      const known = await knownMigrations(dialect, connection);
      const missing = findMissing(ordered, known);
      for (const [index, migration] of missing.entries()) {
        onStep({
          name: migration.name,
          number: index + 1,
          of: missing.length,
          isFirst: known.size === 0,
        });
        const resumed = known.has(migration.name);
        if (!resumed) await begin(connection, migration);
        await migration.up(schemaOn(dialect, connection, types, resumed));
        await finish(connection, migration);
      }
      return missing.map(({ name }) => name);
    } finally {
      await dialect.unlock(connection, LOCK_NAME);
    }
  });
}

const LOCK_NAME = MIGRATIONS_TABLE;
const LOCK_SECONDS = 600;

/**
 * Runs the work in a transaction. On an embedded engine, tries again while another process has
 * locked the file, because a single statement does not wait long enough for the lock.
 */
async function waitForLock<T>(
  database: Database,
  work: (connection: SqlConnection) => Promise<T>,
): Promise<T> {
  const dialect = getDialect(database);
  const until = performance.now() + LOCK_SECONDS * 1000;
  for (;;) {
    try {
      return await database.transaction(work);
    } catch (error) {
      const isBusy =
        dialect.isEmbedded && database.isUnavailable(error) && !dialect.isAboutFile(error);
      if (!isBusy) throw error;
      if (performance.now() > until)
        throw new Error(
          'Another process has locked the database file and does not release it; stop that ' +
            'process, or end its transaction, and run the migration again',
          { cause: error },
        );
      await setTimeout(100);
    }
  }
}

/**
 * Returns each of these steps and when it was applied, sorted by name. Changes nothing.
 *
 * @example
 * const states = await migrationStatus(database, migrations);
 */
export async function migrationStatus(
  database: Database,
  migrations: readonly Migration[],
): Promise<readonly MigrationState[]> {
  const known = await knownMigrations(getDialect(database), database);
  return sorted(migrations).map(({ name }) => {
    const at = known.get(name) ?? BEGUN;
    return { name, appliedAt: at === BEGUN ? null : new Date(at).toISOString() };
  });
}

/**
 * Returns the names of the steps that are not applied yet and whose names start with the prefix.
 */
export function pendingSteps(steps: readonly MigrationState[], prefix = ''): readonly string[] {
  return steps.flatMap(({ name, appliedAt }) =>
    appliedAt === null && name.startsWith(prefix) ? [name] : [],
  );
}

async function begin(connection: SqlConnection, { name }: Migration): Promise<void> {
  await connection.execute(
    `INSERT INTO ${MIGRATIONS_TABLE} (name, applied_at) VALUES (?, ${BEGUN})`,
    [name],
  );
}

async function finish(connection: SqlConnection, { name }: Migration): Promise<void> {
  await connection.execute(`UPDATE ${MIGRATIONS_TABLE} SET applied_at = ? WHERE name = ?`, [
    Date.now(),
    name,
  ]);
}

function schemaOn(
  dialect: Dialect,
  connection: SqlConnection,
  types: ColumnTypes,
  resumed: boolean,
): SchemaConnection {
  return {
    dialect: dialect.name,
    types,
    execute: (sql, parameters) => connection.execute(sql, parameters),
    async change(statement) {
      try {
        await connection.execute(statement);
      } catch (error) {
        if (!resumed || !dialect.isDoneBefore(error)) throw error;
      }
    },
  };
}
