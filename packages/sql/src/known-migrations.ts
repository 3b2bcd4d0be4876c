import type { SqlConnection } from './contract.ts';
import type { Dialect } from './dialect.ts';
import type { ColumnTypes, Migration } from './schema.ts';

/** The table that lists the schema steps that were started or applied. */
export const MIGRATIONS_TABLE = 'portico_migrations';

/** The value of `applied_at` for a step that was started but not finished. */
export const BEGUN = 0;

/**
 * Returns the steps that were started or applied, with their times. The result is empty before the
 * first migration. Changes nothing in the database.
 */
export async function knownMigrations(
  dialect: Dialect,
  connection: SqlConnection,
): Promise<ReadonlyMap<string, number>> {
  const { rows: tables } = await connection.execute(dialect.findTable, [MIGRATIONS_TABLE]);
  if (tables.length === 0) return new Map();
  const { rows } = await connection.execute<{ name: string; applied_at: number }>(
    `SELECT name, applied_at FROM ${MIGRATIONS_TABLE}`,
  );
  return new Map(rows.map((row) => [row.name, row.applied_at]));
}

/** Returns the statement that creates the table if it is missing. */
export function createTable({ identifier, time }: ColumnTypes): string {
  return (
    `CREATE TABLE IF NOT EXISTS ${MIGRATIONS_TABLE} (name ${identifier} NOT NULL PRIMARY KEY, ` +
    `applied_at ${time} NOT NULL)`
  );
}

/** Returns the steps that are not applied. Includes steps that were started but not finished. */
export function findMissing(
  migrations: readonly Migration[],
  known: ReadonlyMap<string, number>,
): readonly Migration[] {
  return migrations.filter(({ name }) => (known.get(name) ?? BEGUN) === BEGUN);
}

/** Returns the steps sorted by name, the order in which they are applied. */
export function sorted(migrations: readonly Migration[]): readonly Migration[] {
  const ordered = migrations.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const twice = ordered.find(({ name }, index) => ordered[index + 1]?.name === name);
  if (twice !== undefined) throw new Error(`Two migrations are named ${twice.name}`);
  return ordered;
}
