import type { SqlConnection } from '../contract.ts';
import type { Dialect, Schemas } from '../dialect.ts';
import { getErrorCodes } from '../meaning.ts';
import { quotedText } from '../quoting.ts';
import { postgresMeanings, postgresRemedy } from './failures.ts';
import { isError } from '../is-error.ts';

const COLUMN_TYPES = {
  identifier: 'TEXT COLLATE "C"',
  text: 'TEXT COLLATE "C"',
  time: 'BIGINT',
  flag: 'SMALLINT',
  counter: 'BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
  tableOptions: '',
};

/**
 * The number of the migration lock. Any number would work, but all Portico processes must use the
 * same one.
 */
const ADVISORY_LOCK = 1_347_375_956;

const LOCK_TIMEOUT = '55P03';

export const POSTGRES: Dialect = {
  name: 'postgres',
  examinations: async () => (await import('./checks.ts')).EXAMINATIONS,
  isEmbedded: false,
  failures: postgresMeanings,
  remedy: postgresRemedy,
  copying: { advice: 'use pg_dump, or a base backup with its write-ahead log (docs/backup.md)' },

  insertIfNone: (row, key) => `INSERT INTO ${row} ON CONFLICT ${key} DO NOTHING`,
  unlessThere: 'ON CONFLICT (id) DO UPDATE SET id = excluded.id',
  // Do not wait long for a lock. A commit that waits for a missing standby still holds its locks.
  waitBriefly: "SET LOCAL lock_timeout = '250ms'",
  locking: ' FOR UPDATE',
  lockingUnlocked: ' FOR UPDATE SKIP LOCKED',
  hasWord: (list) => `STRPOS(CONCAT(' ', ${list}, ' '), ?) > 0`,
  claimAndInsert,
  readsAreForGood: false,
  // The message is only written to the log of the server, and the function returns its position.
  // Use an INSERT, because a read-only server would not refuse a SELECT in the usual way.
  awaitEarlierCommits: (table) =>
    `INSERT INTO ${table} (id) SELECT '' WHERE pg_logical_emit_message(true, 'portico', '') IS NULL`,
  plansWithoutValues: true,
  // Compare with a list of one element. If a column is compared with a single value, the planner
  // treats the column as constant.
  isValue: (column) => `${column} = ANY(ARRAY[?])`,
  belowInIndex: (column, key) => ({
    sql: `${column} >= ? AND (${column}, ${key}) < (?, ?)`,
    order: `${column} DESC, ${key} DESC`,
    parameters: (value, below) => [value, value, below],
  }),

  columnTypes: async () => COLUMN_TYPES,
  indexesEndWithKey: false,
  partialIndex: (condition) => ` WHERE ${condition}`,
  roomForUpdates: (table) => [`ALTER TABLE ${table} SET (fillfactor = 80)`],
  findTable:
    'SELECT 1 AS found FROM pg_catalog.pg_tables WHERE schemaname = current_schema() AND ' +
    'tablename = ?',
  // The lock is released when the transaction ends.
  async lock(connection, _name, seconds) {
    const { rows } = await connection.execute<{ before: string }>(
      "SELECT current_setting('lock_timeout') AS before",
    );
    await limitLocks(connection, `${seconds}s`);
    try {
      await connection.execute(`SELECT pg_advisory_xact_lock(${ADVISORY_LOCK})`);
    } catch (error) {
      if (isError(error) && getErrorCodes(error).includes(LOCK_TIMEOUT)) return false;
      throw error;
    }
    await limitLocks(connection, rows[0]?.before ?? '0');
    return true;
  },
  unlock: async () => {},
  isDoneBefore: () => false,
  isAboutFile: () => false,
  schemas: schemas(),
  quoted: quotedText,
  now: 'CAST(EXTRACT(EPOCH FROM now()) * 1000 AS BIGINT)',
};

/** Sets how long later statements of the transaction wait for a lock. */
async function limitLocks(connection: SqlConnection, limit: string): Promise<void> {
  await connection.execute("SELECT set_config('lock_timeout', ?, true)", [limit]);
}

function claimAndInsert(claim: string, table: string, columns: string): string {
  // Cast the times, because PostgreSQL treats a parameter in a SELECT as text.
  const values = columns.replaceAll(/\w+/g, (name) =>
    /_(?:at|after)$/.test(name) ? 'CAST(? AS BIGINT)' : '?',
  );
  return (
    `WITH claimed AS (${claim} RETURNING 1) INSERT INTO ${table} (${columns}) SELECT ${values} ` +
    'FROM claimed'
  );
}

/**
 * Matches names that PostgreSQL accepts and does not reserve. PostgreSQL would shorten longer
 * names.
 */
const SCHEMA_NAME = /^(?!pg_)[A-Za-z_][A-Za-z0-9_]{0,62}$/;

function schemas(): Schemas {
  return {
    problem: (name) =>
      SCHEMA_NAME.test(name)
        ? null
        : 'must have at most 63 letters, digits and underscores; it must not begin with a ' +
          'digit or with pg_',
    create: createSchema,
    around: (name) => [
      [
        `CREATE SCHEMA IF NOT EXISTS ${quotedSchema(name)}`,
        "SELECT set_config('portico.search_path', current_setting('search_path'), false)",
        `SET search_path TO ${quotedSchema(name)}`,
      ],
      ["SELECT set_config('search_path', current_setting('portico.search_path'), false)"],
    ],
  };
}

/**
 * Creates the schema if it is missing. Looks for the schema first, because some accounts may use
 * schemas but not create them.
 */
async function createSchema(connection: SqlConnection, name: string): Promise<void> {
  const { rows } = await connection.execute(
    'SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = ?',
    [name],
  );
  if (rows.length === 0) await connection.execute(`CREATE SCHEMA ${quotedSchema(name)}`);
}

/** Quotes a schema name, so that PostgreSQL reads it literally. */
export function quotedSchema(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
