import type { Database, SqlConnection, SqlParameter } from './contract.ts';
import type { Dialect } from './dialect.ts';
import { getDialect } from './engines.ts';
import {
  createTable,
  knownMigrations,
  MIGRATIONS_TABLE,
  findMissing,
  sorted,
} from './known-migrations.ts';
import type { ColumnTypes, Migration } from './schema.ts';

/**
 * Returns the SQL of the missing steps, so that other tools can apply it. The SQL also marks the
 * steps as applied. Returns an empty string if no step is missing. Changes nothing in the database.
 * The same state of the database always results in the same SQL.
 *
 * Rejects if an earlier migration was interrupted, or if a step needs to read data to build its
 * statements.
 *
 * @example
 * const sql = await printMigrations(database, migrations);
 */
export async function printMigrations(
  database: Database,
  migrations: readonly Migration[],
): Promise<string> {
  const dialect = getDialect(database);
  const known = await knownMigrations(dialect, database);
  const missing = findMissing(sorted(migrations), known);
  const begun = missing.find(({ name }) => known.has(name));
  if (begun !== undefined)
    throw new Error(
      `The step ${begun.name} was started but not finished: run db:migrate up to finish it`,
    );
  if (missing.length === 0) return '';
  const types = await dialect.columnTypes(database);
  const parts = [createTable(types)];
  for (const migration of missing) {
    parts.push(
      `-- ${migration.name}`,
      ...(await listStatements(migration, dialect, types)),
      `INSERT INTO ${MIGRATIONS_TABLE} (name, applied_at) VALUES ` +
        `(${literal(migration.name, dialect)}, ${dialect.now})`,
    );
  }
  const { schema = null } = database;
  const [before, after] = schema === null ? NOTHING : (dialect.schemas?.around(schema) ?? NOTHING);
  const text = [...before, ...parts, ...after].map((part) =>
    part.startsWith('--') ? part : `${part};`,
  );
  return `${[HEAD, ...text].join('\n')}\n`;
}

const NOTHING = [[], []] as const;

const HEAD =
  '-- The tables that Portico needs. Run this once, in one transaction if the database ' +
  'supports that for schema changes.';

/** Runs a step on a connection that only records statements. Returns the statements. */
async function listStatements(
  migration: Migration,
  dialect: Dialect,
  types: ColumnTypes,
): Promise<readonly string[]> {
  const statements: string[] = [];
  const execute = async (sql: string, parameters: readonly SqlParameter[] = []) => {
    if (READS.test(sql)) {
      throw new Error(
        `The step ${migration.name} depends on existing data, so it cannot be printed: ` +
          'write it as INSERT … SELECT or UPDATE, or apply it with db:migrate up',
      );
    }
    statements.push(inlined(sql, parameters, dialect).trim());
    return { rows: [], affected: 0 };
  };
  const connection: SqlConnection = {
    execute: async (sql, parameters) => execute(sql, parameters),
  };
  await migration.up({
    ...connection,
    dialect: dialect.name,
    types,
    change: async (statement) => void (await execute(statement)),
  });
  return statements;
}

/** Matches statements that return rows. */
const READS = /^\s*(?:SELECT|VALUES|WITH|TABLE|SHOW|PRAGMA|EXPLAIN|DESC(?:RIBE)?)\b|\bRETURNING\b/i;

/** Replaces each `?` outside quotes with its value. */
function inlined(sql: string, parameters: readonly SqlParameter[], dialect: Dialect): string {
  const values = parameters.values();
  return sql.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\?/g, (found) => {
    if (found !== '?') return found;
    const { value, done } = values.next();
    if (done === true) throw new Error(`A parameter is missing for ${sql}`);
    return literal(value, dialect);
  });
}

function literal(value: SqlParameter, dialect: Dialect): string {
  if (value === null) return 'NULL';
  if (typeof value !== 'string') return String(value);
  return dialect.quoted(value);
}
