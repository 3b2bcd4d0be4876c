import { failing, getDialect, type Finding, type Migration, type SqlDialect } from '@portico/sql';
import type { ExaminedApplication, Examination } from '../examination.ts';

/**
 * Reports tables of applied migrations that the database user may not read, or that do not exist.
 * Only reads, because an account may deliberately lack privileges to write (docs/audit.md). Pass
 * only Portico's own migrations: they run on a connection that changes nothing.
 */
export function examineTables(migrations: readonly Migration[]): Examination {
  return {
    part: 'table access',
    async findings(application): Promise<readonly Finding[]> {
      const { database } = application;
      // Other checks report a store that does not respond, and migrations that are not applied.
      const steps = await application.migrations().catch(() => []);
      const applied = migrations.filter((migration) =>
        steps.some(({ name, appliedAt }) => name === migration.name && appliedAt !== null),
      );
      const found: Finding[] = [];
      for (const table of await tablesOf(applied, database.dialect))
        found.push(...(await examineTable(database, table)));
      return found;
    },
  };
}

async function examineTable(
  store: ExaminedApplication['database'],
  table: string,
): Promise<readonly Finding[]> {
  const { remedy: remedyFor, findTable } = getDialect(store);
  try {
    await store.execute(`SELECT * FROM ${table} LIMIT 0`);
    return [];
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // Check this first: MySQL hides a table from a user who has no privilege for it.
    const remedy = remedyFor(error);
    if (remedy !== null) return [failing(`${table}: ${error.message}`, remedy)];
    const { rows } = await store.execute(findTable, [table]);
    return rows.length === 0 ? [missing(table)] : [];
  }
}

function missing(table: string): Finding {
  return failing(
    `the table ${table} does not exist, although its migration is applied`,
    'restore the table from a backup (docs/restore.md)',
  );
}

/** Returns the tables that the migrations create. */
async function tablesOf(
  migrations: readonly Migration[],
  dialect: SqlDialect,
): Promise<readonly string[]> {
  const tables: string[] = [];
  const execute = async (sql: string) => {
    const [, table] = /^CREATE TABLE (\w+)/.exec(sql) ?? [];
    if (table !== undefined) tables.push(table);
    return { rows: [], affected: 0 };
  };
  const recorder = { dialect, execute, change: async (sql: string) => void (await execute(sql)) };
  const types = await getDialect(recorder).columnTypes(recorder);
  for (const migration of migrations) await migration.up({ ...recorder, types });
  return tables;
}
