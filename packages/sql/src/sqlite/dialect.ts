import type { Dialect } from '../dialect.ts';
import { quotedText } from '../quoting.ts';
import { isSqliteAboutFile, sqliteMeanings } from './failures.ts';

const COLUMN_TYPES = {
  identifier: 'TEXT',
  text: 'TEXT',
  time: 'INTEGER',
  flag: 'INTEGER',
  counter: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  tableOptions: 'WITHOUT ROWID',
};

export const SQLITE: Dialect = {
  name: 'sqlite',
  examinations: async () => (await import('./checks.ts')).EXAMINATIONS,
  isEmbedded: true,
  failures: sqliteMeanings,
  remedy: () => null,
  copying: { statement: 'VACUUM INTO ?' },

  insertIfNone: (row, key) => `INSERT INTO ${row} ON CONFLICT ${key} DO NOTHING`,
  unlessThere: 'ON CONFLICT (id) DO UPDATE SET id = excluded.id',
  waitBriefly: null,
  locking: '',
  lockingUnlocked: '',
  hasWord: (list) => `INSTR(CONCAT(' ', ${list}, ' '), ?) > 0`,
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

  columnTypes: async () => COLUMN_TYPES,
  indexesEndWithKey: true,
  partialIndex: (condition) => ` WHERE ${condition}`,
  roomForUpdates: () => [],
  findTable: "SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = ?",
  // No lock is needed, because an immediate transaction already locks the file.
  lock: async () => true,
  unlock: async () => {},
  isDoneBefore: () => false,
  isAboutFile: isSqliteAboutFile,
  schemas: null,
  quoted: quotedText,
  now: "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
};
