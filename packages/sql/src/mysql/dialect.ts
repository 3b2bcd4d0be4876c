import type { SqlConnection } from '../contract.ts';
import type { Dialect } from '../dialect.ts';
import { quotedText } from '../quoting.ts';
import type { ColumnTypes } from '../schema.ts';
import { mysqlMeanings, mysqlRemedy } from './failures.ts';
import { isError } from '../is-error.ts';

/**
 * The error numbers for a table, column or key that already exists, or that was already removed or
 * renamed.
 */
const DONE_BEFORE: ReadonlySet<unknown> = new Set([1050, 1054, 1060, 1061, 1091]);

/** The dialect of MySQL and MariaDB. */
export const MYSQL: Dialect = {
  name: 'mysql',
  examinations: async () => (await import('./checks.ts')).EXAMINATIONS,
  isEmbedded: false,
  failures: mysqlMeanings,
  remedy: mysqlRemedy,
  copying: { advice: 'use mariadb-dump --single-transaction (docs/backup.md)' },

  insertIfNone: (row) => `INSERT IGNORE INTO ${row}`,
  unlessThere: 'ON DUPLICATE KEY UPDATE id = id',
  waitBriefly: null,
  locking: ' FOR UPDATE',
  lockingUnlocked: ' FOR UPDATE SKIP LOCKED',
  hasWord: (list) => `LOCATE(?, CONCAT(' ', ${list}, ' ')) > 0`,
  claimAndInsert: () => null,
  readsAreForGood: true,
  awaitEarlierCommits: () => null,
  plansWithoutValues: false,
  isValue: (column) => `${column} = ?`,
  belowInIndex: (column, key) => ({
    sql: `${column} = ? AND ${key} < ?`,
    order: `${key} DESC`,
    parameters: (value, below) => [value, below],
  }),

  async columnTypes(connection) {
    return columnTypes(await binaryCollation(connection));
  },
  indexesEndWithKey: true,
  partialIndex: () => '',
  roomForUpdates: () => [],
  findTable:
    'SELECT 1 AS found FROM information_schema.tables WHERE table_schema = DATABASE() AND ' +
    'table_name = ?',
  // Use a lock of the session, because a schema change ends the transaction.
  async lock(connection, name, seconds) {
    const { rows } = await connection.execute<{ taken: number | null }>(
      'SELECT GET_LOCK(?, ?) AS taken',
      [name, seconds],
    );
    return rows[0]?.taken === 1;
  },
  async unlock(connection, name) {
    await connection.execute('SELECT RELEASE_LOCK(?)', [name]);
  },
  isDoneBefore: (error) => isError(error) && 'errno' in error && DONE_BEFORE.has(error.errno),
  isAboutFile: () => false,
  schemas: null,
  quoted: (text) => quotedText(text).replaceAll('\\', '\\\\'),
  now: 'CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)',
};

function columnTypes(collation: string): ColumnTypes {
  const binary = `CHARACTER SET utf8mb4 COLLATE ${collation}`;
  return {
    identifier: `VARCHAR(255) ${binary}`,
    text: `MEDIUMTEXT ${binary}`,
    time: 'BIGINT',
    flag: 'SMALLINT',
    counter: 'BIGINT AUTO_INCREMENT PRIMARY KEY',
    tableOptions: '',
  };
}

/**
 * Returns the binary collation that keeps trailing spaces. Its name is different in MariaDB and
 * MySQL.
 */
async function binaryCollation(connection: SqlConnection): Promise<string> {
  const { rows } = await connection.execute<{ version: string }>('SELECT VERSION() AS version');
  return /mariadb/i.test(rows[0]?.version ?? '') ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin';
}
