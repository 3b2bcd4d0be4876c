import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { migrate, openDatabase, type OpenedDatabase } from '@portico/sql';
import { oauthServerMigrations } from '../../packages/portico/src/store/migrations/index.ts';
import { Store } from './store.ts';
import { createDatabase } from './database.ts';

/** A store in which a test can act between two statements. */
export interface WatchedStore {
  readonly store: Store;
  readonly database: OpenedDatabase;
  /**
   * Work to run once before the next statement that matches. It simulates another process that acts
   * between two statements of this process.
   */
  meanwhile: { readonly before: RegExp; readonly act: () => Promise<unknown> } | null;
  /** The number of transactions that have begun. */
  transactions: number;
  /** The first words of each write, and the number of its values. */
  readonly writes: { readonly begins: string; readonly values: number }[];
  /** The read-only statements. */
  readonly reads: string[];
  readonly emptied: (...tables: readonly string[]) => Promise<void>;
  readonly insert: (table: string, values: Readonly<Record<string, Value>>) => Promise<void>;
  /** Changes the row with this key. */
  readonly set: (
    table: string,
    key: readonly [string, string],
    values: Readonly<Record<string, Value>>,
  ) => Promise<void>;
  readonly rowsOf: <Row>(sql: string, ...parameters: readonly Value[]) => Promise<readonly Row[]>;
  close(): Promise<void>;
}

type Value = string | number | null;

export async function openWatchedStore(): Promise<WatchedStore> {
  const folder = await mkdtemp(path.join(tmpdir(), 'portico-watched-'));
  const created = await createDatabase(folder);
  const inner = openDatabase(created.url, { directory: folder });
  /**
   * Reject an empty list and a missing value. The database servers reject them, too, but SQLite
   * accepts them.
   */
  const watch =
    (connection: Pick<OpenedDatabase, 'execute'>): OpenedDatabase['execute'] =>
    async (sql, parameters = [], ...rest) => {
      const values = sql.split('?').length - 1;
      if (sql.includes('IN ()') || values !== parameters.length)
        throw new Error(`You have an error in your SQL syntax: ${sql}`);
      if (sql.startsWith('SELECT')) watched.reads.push(sql);
      else watched.writes.push({ begins: sql.slice(0, 32), values });
      const now = watched.meanwhile?.before.test(sql) === true ? watched.meanwhile : null;
      if (now !== null) watched.meanwhile = null;
      await now?.act();
      return connection.execute(sql, parameters, ...rest);
    };
  const database: OpenedDatabase = {
    ...inner,
    execute: watch(inner),
    transaction: (work, committed) => {
      watched.transactions += 1;
      return inner.transaction((connection) => work({ execute: watch(connection) }), committed);
    },
  };
  const watched: WatchedStore = {
    store: new Store(database, () => true),
    database,
    meanwhile: null,
    transactions: 0,
    writes: [],
    reads: [],
    async emptied(...tables) {
      for (const table of tables) await database.execute(`DELETE FROM ${table}`);
    },
    async insert(table, values) {
      const columns = Object.keys(values);
      await database.execute(
        `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
        Object.values(values),
      );
    },
    async set(table, [key, value], values) {
      const columns = Object.keys(values).map((column) => `${column} = ?`);
      const statement = `UPDATE ${table} SET ${columns.join(', ')} WHERE ${key} = ?`;
      await database.execute(statement, [...Object.values(values), value]);
    },
    rowsOf: async <Row>(sql: string, ...parameters: readonly Value[]) =>
      (await database.execute<Row>(sql, parameters)).rows,
    async close() {
      await inner.close();
      await created.drop();
      await rm(folder, { recursive: true });
    },
  };
  await migrate(inner, oauthServerMigrations);
  return watched;
}
