import type { SqlConnection, SqlDialect } from './contract.ts';
import type { ColumnTypes, Migration } from './schema.ts';

/** Where the steps that are applied are kept. */
export const MIGRATIONS_TABLE = 'portico_migrations';

/** `applied_at` of a step that was begun and not finished. */
export const BEGUN = 0;

/** Asks for the table where it would be created; a SELECT from it would fail the transaction that it is in, on PostgreSQL. */
const IS_THERE: Readonly<Record<SqlDialect, string>> = {
  sqlite: "SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = ?",
  postgres:
    'SELECT 1 AS found FROM pg_catalog.pg_tables WHERE schemaname = current_schema() AND tablename = ?',
  mysql:
    'SELECT 1 AS found FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = ?',
};

/** The steps that were begun or applied, and when each was applied; empty where nothing was migrated. Changes nothing. */
export async function knownMigrations(
  dialect: SqlDialect,
  connection: SqlConnection,
): Promise<ReadonlyMap<string, number>> {
  const { rows: tables } = await connection.execute(IS_THERE[dialect], [MIGRATIONS_TABLE]);
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
