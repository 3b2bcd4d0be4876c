import type { SqlConnection } from './contract.ts';
import type { Dialect } from './dialect.ts';
import type { ColumnTypes, Migration } from './schema.ts';

/** Where the steps that are applied are kept. */
export const MIGRATIONS_TABLE = 'portico_migrations';

/** `applied_at` of a step that was begun and not finished. */
export const BEGUN = 0;

/** The steps that were begun or applied, and when each was applied; empty where nothing was migrated. Changes nothing. */
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

/** The statement that makes the table of steps where it is missing. */
export function createTable({ identifier, time }: ColumnTypes): string {
  return `CREATE TABLE IF NOT EXISTS ${MIGRATIONS_TABLE} (name ${identifier} NOT NULL PRIMARY KEY, applied_at ${time} NOT NULL)`;
}

/** Those that are not applied; one that was begun and not finished is among them. */
export function missingOf(
  migrations: readonly Migration[],
  known: ReadonlyMap<string, number>,
): readonly Migration[] {
  return migrations.filter(({ name }) => (known.get(name) ?? BEGUN) === BEGUN);
}

/** In the order of their names, which is that of their application. */
export function sorted(migrations: readonly Migration[]): readonly Migration[] {
  const ordered = migrations.toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const twice = ordered.find(({ name }, index) => ordered[index + 1]?.name === name);
  if (twice !== undefined) throw new Error(`Two migrations are named ${twice.name}`);
  return ordered;
}
