import { DatabaseSync } from 'node:sqlite';
import mysql, { type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';
import pg from 'pg';
import {
  fromMysql,
  fromPostgres,
  fromSqlite,
  type BorrowedDatabase,
  type BorrowingOptions,
  type OpenedDatabase,
} from 'portico';
import { onTestFinished } from 'vitest';

/** A pool as an application could have it, with settings that do not suit Portico. */
export interface ApplicationPool {
  /** Opens a Portico store on this pool, and so on the same database. */
  borrow(options?: BorrowingOptions): BorrowedDatabase;
  /** Runs a statement through the application's own driver. */
  ask(sql: string): Promise<readonly unknown[]>;
  /** Returns the settings of a session and its event listeners. */
  session(): Promise<unknown>;
  /** Takes a connection from the pool. The resulting function returns it to the pool. */
  keep(...statements: readonly string[]): Promise<() => void>;
  /**
   * Returns how many connections are in use or waited for. Returns 0 if the pool does not count
   * them.
   */
  busy(): number;
  end(): Promise<void>;
}

/**
 * Opens a pool with this many connections. On PostgreSQL, the application's own transactions run at
 * the level `isolation`. On SQLite, opens the application's own connection to a file.
 */
export function openApplicationPool(
  url: string,
  size = 4,
  isolation = 'serializable',
): ApplicationPool {
  if (url.startsWith('sqlite:')) return openSqlite(url.slice('sqlite:'.length));
  return url.startsWith('postgres:') ? openPostgres(url, size, isolation) : openMysql(url, size);
}

/** Opens a store on such a pool. The pool ends with the test. */
export function borrowAt(url: string, options: BorrowingOptions = {}): OpenedDatabase {
  // At a higher isolation level, a statement that waited for another one fails and runs again.
  const pool = openApplicationPool(url, 4, 'read committed');
  onTestFinished(() => pool.end());
  return pool.borrow(options);
}

function openPostgres(url: string, max: number, isolation: string): ApplicationPool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    options: `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')} -c statement_timeout=20000`,
    types: {
      getTypeParser: () => (text: string | Buffer) => `read by the application: ${String(text)}`,
    },
  });
  pool.on('error', () => {});
  const settings = `SELECT string_agg(name || '=' || setting, ',' ORDER BY name) AS text FROM pg_settings
    WHERE source NOT IN ('default', 'configuration file') OR name IN ('search_path', 'transaction_isolation')`;
  return {
    borrow: (options) => fromPostgres(pool, options),
    ask: async (sql) => (await pool.query<Record<string, unknown>>(sql)).rows,
    async session() {
      const client = await pool.connect();
      try {
        const { rows } = await client.query<{ text: string }>(settings);
        const listeners = client
          .eventNames()
          .map((name) => [String(name), client.listenerCount(name)]);
        return { text: rows[0]?.text, listeners, status: client.getTransactionStatus() };
      } finally {
        client.release();
      }
    },
    async keep(...statements) {
      const client = await pool.connect();
      for (const statement of statements) await client.query(statement);
      return () => client.release();
    },
    busy: () => pool.totalCount - pool.idleCount + pool.waitingCount,
    end: () => pool.end(),
  };
}

/** Settings that break code if it relies on backslashes in text, on row counts or on commits. */
const SESSION = [
  "SET SESSION sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES,PIPES_AS_CONCAT'",
  'SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED',
  'SET SESSION autocommit = 0',
  'SET SESSION sql_select_limit = 1000000, SESSION sql_big_selects = 0',
  'SET SESSION completion_type = 1',
];

function openMysql(url: string, connectionLimit: number): ApplicationPool {
  const pool = mysql.createPool({
    uri: url,
    connectionLimit,
    namedPlaceholders: true,
    rowsAsArray: true,
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    decimalNumbers: true,
    typeCast: (field) => `read by the application: ${field.string()}`,
    flags: ['-FOUND_ROWS'],
    timezone: '+05:00',
    multipleStatements: true,
  });
  pool.pool.on('connection', (connection) => {
    for (const statement of SESSION) connection.query(statement);
  });
  let out = 0;
  pool.pool.on('acquire', () => (out += 1));
  pool.pool.on('release', () => (out -= 1));
  const settings = `SELECT CONCAT_WS(' ', @@SESSION.sql_mode, @@SESSION.tx_isolation, @@SESSION.autocommit,
    @@SESSION.tx_read_only, @@SESSION.sql_select_limit, @@SESSION.sql_big_selects, @@SESSION.sql_safe_updates,
    @@SESSION.completion_type,
    @portico_sql_mode, @portico_tx_isolation, @portico_sql_select_limit, @@in_transaction)`;
  return {
    borrow: (options) => fromMysql(pool, options),
    async ask(sql) {
      const connection = await pool.getConnection();
      try {
        const [answer] = await connection.query<RowDataPacket[] | ResultSetHeader>(sql);
        await connection.query('COMMIT');
        return Array.isArray(answer) ? answer : [];
      } finally {
        connection.release();
      }
    },
    async session() {
      const connection = await pool.getConnection();
      try {
        const [rows] = await connection.query<RowDataPacket[]>(settings);
        await connection.query('COMMIT');
        const core = connection.connection;
        return {
          rows,
          listeners: core.eventNames().map((name) => [String(name), core.listenerCount(name)]),
        };
      } finally {
        connection.release();
      }
    },
    async keep(...statements) {
      const connection = await pool.getConnection();
      for (const statement of statements) await connection.query(statement);
      return () => connection.release();
    },
    busy: () => out,
    end: () => pool.end(),
  };
}

function openSqlite(file: string): ApplicationPool {
  const own = new DatabaseSync(file, { timeout: 5000 });
  return {
    borrow: (options) => fromSqlite(own, options),
    ask: async (sql) => own.prepare(sql).all(),
    session: async () => own.prepare('PRAGMA journal_mode').all(),
    async keep(...statements) {
      for (const statement of statements) own.exec(statement);
      return () => {};
    },
    busy: () => 0,
    end: async () => own.close(),
  };
}
