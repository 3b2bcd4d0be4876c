import type { Database } from 'portico';

/** A row, by the names of its columns. */
type Row = Readonly<Record<string, unknown>>;

/** The rows of every table, by the name of the table. */
export type TableRows = ReadonlyMap<string, readonly Row[]>;

const TABLES = {
  sqlite: `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'`,
  postgres:
    'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()',
  mysql: 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()',
} as const;

/** Reads all tables of a database. */
export async function readTables(database: Database): Promise<TableRows> {
  const { rows } = await database.execute(TABLES[database.dialect]);
  const tables = new Map<string, readonly Row[]>();
  for (const { name } of rows)
    tables.set(String(name), (await database.execute(`SELECT * FROM ${String(name)}`)).rows);
  return tables;
}

/**
 * Returns what is missing in `after`: tables, columns, and rows whose values in the columns of
 * `before` no longer exist. Ignores new tables, columns and rows.
 */
export function findLost(before: TableRows, after: TableRows): readonly string[] {
  return [...before].flatMap(([table, rows]) => {
    const found = after.get(table);
    if (found === undefined) return [`the table ${table}`];
    const [first, kept] = [rows[0], found[0]];
    if (first === undefined) return [];
    if (kept === undefined) return [`${rows.length} rows of ${table}`];
    const missing = Object.keys(first).filter((column) => !Object.hasOwn(kept, column));
    if (missing.length > 0) return missing.map((column) => `the column ${table}.${column}`);
    const lost = countLost(Object.keys(first), rows, found);
    return lost === 0 ? [] : [`values in ${lost} rows of ${table}`];
  });
}

function countLost(
  columns: readonly string[],
  before: readonly Row[],
  after: readonly Row[],
): number {
  const textOf = (row: Row) => JSON.stringify(columns.map((column) => String(row[column])));
  const left = after.map(textOf);
  return before.map(textOf).filter((text) => {
    const at = left.indexOf(text);
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  }).length;
}
