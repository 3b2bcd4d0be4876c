import {
  failing,
  getDialect,
  pendingSteps,
  type Finding,
  type Migration,
  type SqlDialect,
} from '@portico/sql';
import type { ExaminedApplication, Examination } from '../examination.ts';

type Store = ExaminedApplication['database'];

/**
 * Reports tables that do not exist although their migration is applied, and privileges that the
 * user of the database lacks. Changes nothing: each statement matches no row, but the database
 * server checks the privileges anyway.
 */
export function examineTables(migrations: readonly Migration[]): Examination {
  return {
    part: 'table access',
    async findings(application): Promise<readonly Finding[]> {
      const { database } = application;
      // Other checks report a store that does not respond, and migrations that are not applied.
      const steps = await application.migrations().catch(() => null);
      if (steps === null || pendingSteps(steps, 'oauth_server_').length > 0) return [];
      const found: Finding[] = [];
      for (const table of await tablesOf(migrations, database.dialect))
        found.push(...(await examineTable(database, table)));
      return found;
    },
  };
}

interface Table {
  readonly name: string;
  readonly column: string;
}

async function examineTable(store: Store, { name, column }: Table): Promise<readonly Finding[]> {
  const dialect = getDialect(store);
  const unread = await store.execute(`SELECT * FROM ${name} LIMIT 0`).then(() => null, toError);
  if (unread !== null)
    return (await isMissing(store, name)) ? [missing(name)] : lacking(store, name, unread);
  // An embedded engine has no users, and its writes would wait for a lock.
  if (dialect.isEmbedded) return [];
  const found: Finding[] = [];
  for (const sql of [
    `INSERT INTO ${name} SELECT * FROM ${name} WHERE 1 = 0`,
    `UPDATE ${name} SET ${column} = ${column} WHERE 1 = 0`,
    `DELETE FROM ${name} WHERE 1 = 0`,
  ]) {
    const error = await store.execute(sql).then(() => null, toError);
    if (error !== null) found.push(...lacking(store, name, error));
  }
  return found;
}

const toError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)));

/** Whether the database knows no table with this name. False if it does not say. */
async function isMissing(store: Store, name: string): Promise<boolean> {
  const { rows } = await store
    .execute(getDialect(store).findTable, [name])
    .catch(() => ({ rows: [name] }));
  return rows.length === 0;
}

function missing(name: string): Finding {
  return failing(
    `the table ${name} does not exist, although its migration is applied`,
    'restore the table from a backup (docs/restore.md)',
  );
}

/** Returns a finding if the error is about a privilege. Other checks report other errors. */
function lacking(store: Store, name: string, error: Error): readonly Finding[] {
  const remedy = getDialect(store).remedy(error);
  return remedy === null ? [] : [failing(`${name}: ${error.message}`, remedy)];
}

/**
 * Returns the tables that the migrations create, each with its first column. Omits tables that a
 * later migration renames or drops.
 */
async function tablesOf(
  migrations: readonly Migration[],
  dialect: SqlDialect,
): Promise<readonly Table[]> {
  const tables = new Map<string, Table>();
  const note = (sql: string) => {
    const [, name, column] = CREATES.exec(sql) ?? [];
    if (name !== undefined && column !== undefined) tables.set(name, { name, column });
    else if (ENDS.test(sql)) for (const word of sql.match(/\w+/g) ?? []) tables.delete(word);
  };
  const execute = async (sql: string) => {
    note(sql);
    return { rows: [], affected: 0 };
  };
  for (const migration of migrations) {
    // A migration of your own feature may fail here, because it gets no rows.
    await migration
      .up({ dialect, types: NO_TYPES, execute, change: async (sql) => note(sql) })
      .catch(() => {});
  }
  return [...tables.values()];
}

const CREATES = /^\s*CREATE TABLE (?:IF NOT EXISTS )?(\w+)\s*\(\s*(\w+)/i;
const ENDS = /\b(?:DROP TABLE|RENAME)\b/i;

const NO_TYPES = {
  identifier: '',
  text: '',
  time: '',
  flag: '',
  counter: '',
  tableOptions: '',
};
