import type { Database } from './contract.ts';
import type { Log } from './log.ts';

/** The current connection counts of a pool. */
export interface DatabaseConnections {
  /** The number of connections that a statement or transaction is using. */
  readonly used: number;
  /**
   * The number of open connections that are not in use. Null if the pool does not report it. 0
   * before the first statement.
   */
  readonly idle: number | null;
  /** The number of statements and transactions that wait for a connection. */
  readonly waiting: number;
  /**
   * The maximum number of connections. Null if the pool does not report it, and before the first
   * statement.
   */
  readonly most: number | null;
}

/** A clock and a timer. The store uses them for its time limits. */
export interface Timer {
  /** Returns the time in milliseconds since an arbitrary moment. The result never decreases. */
  now(): number;
  /** Calls `call` once after this many milliseconds. Returns a function that cancels the call. */
  after(milliseconds: number, call: () => void): () => void;
}

/**
 * A store that also enforces rules for `transaction`. `openDatabase`, `fromPostgres`, `fromMysql`
 * and `fromSqlite` return such a store. The rules are:
 * - The work must use the connection that it receives. While the work runs, it cannot use the store
 *   itself.
 * - The work must await its statements. When the work ends, the transaction waits for running
 *   statements and rejects later ones.
 * - A transaction may take at most 30 seconds by default. After its first statement, it may wait at
 *   most 2 seconds by default for anything except its statements. A transaction that exceeds a
 *   limit is rolled back.
 *
 * If the work breaks a rule, the store rejects with a `TransactionError`. After a deadlock or a
 * serialization failure, the transaction runs again, up to five times in total.
 */
export interface OpenedDatabase extends Database {
  /**
   * The schema that contains the tables, on PostgreSQL. If null, the connection's `search_path` is
   * used.
   */
  readonly schema: string | null;
  /**
   * How many times statements and transactions were retried after a conflict. These numbers never
   * decrease. On SQLite, `statements` is always 0.
   */
  readonly retries: { readonly statements: number; readonly transactions: number };
  /**
   * Returns how many connections are in use, how many are idle, and how many statements and
   * transactions wait for a connection. Returns null on SQLite.
   */
  connections(): DatabaseConnections | null;
  /**
   * Returns the same store without time limits. Use it for slow statements, for example schema
   * changes. `close` of the original store also closes this one.
   */
  withoutTimeout(): OpenedDatabase;
  /**
   * Waits for running writes, then closes the connections. On SQLite, waits at most 5 seconds.
   * Later statements are rejected.
   */
  close(): Promise<void>;
}

/** Options for a store on the application's own pool or file. */
export interface BorrowingOptions {
  /**
   * The schema that contains the tables, on PostgreSQL. The migration creates it if it is missing.
   * On other engines, a schema causes a ConfigurationError. Default: the `search_path` of the
   * connection.
   */
  readonly schema?: string | null;
  /** How long a transaction may take, in seconds. Default: 30. */
  readonly transactionTimeout?: number;
  /**
   * How many seconds a transaction may wait, after its first statement, for anything except its
   * statements. Default: 2.
   */
  readonly transactionIdleTimeout?: number;
  /** The timer that measures these times. Default: the system's timer. */
  readonly timer?: Timer;
  /**
   * The log for broken idle connections. Only `fromPostgres` uses it, and only if the pool has no
   * `error` listener. For a store that an application opens, the default is the application's log.
   * Without a log, Node prints broken connections as process warnings.
   */
  readonly log?: Log;
}

/**
 * A store on the application's own pool or file. `fromPostgres`, `fromMysql` and `fromSqlite`
 * return it. Closing it does not close the application's pool or connection.
 */
export interface BorrowedDatabase extends OpenedDatabase {
  /**
   * Opens a second store on the same pool or file. These options override the options of the first
   * store. Close each store separately.
   */
  open(options?: BorrowingOptions): OpenedDatabase;
}
