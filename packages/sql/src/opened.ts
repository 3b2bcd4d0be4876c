import type { Database } from './contract.ts';
import type { Log } from './log.ts';

/** A pool's connections right now. */
export interface DatabaseConnections {
  /** How many connections a statement or transaction is using. */
  readonly used: number;
  /** How many open connections are not in use. Null if the pool does not report it. */
  readonly idle: number | null;
  /** How many statements and transactions wait for a connection. */
  readonly waiting: number;
  /** The maximum number of connections. Null if the pool does not report it. */
  readonly most: number | null;
}

/** A clock and timer for time limits. */
export interface Timer {
  /** Returns milliseconds since an arbitrary time. Never goes backwards. */
  now(): number;
  /** Calls `call` once after this many milliseconds. Returns a function that cancels it. */
  after(milliseconds: number, call: () => void): () => void;
}

/**
 * A store that also enforces the rules for `transaction`. `openDatabase` returns one.
 *
 * After a deadlock or a serialization failure, the transaction runs again. Its work must use the
 * connection that it receives: the store itself rejects statements during the work. At the end, the
 * transaction waits for statements that the work did not await, and rejects later ones. It rolls
 * back if it lasts 30 seconds. It also rolls back if, after its first statement, it waits 2 seconds
 * for anything except its statements. Each broken rule throws a `TransactionError`.
 */
export interface OpenedDatabase extends Database {
  /**
   * PostgreSQL: the schema that contains the tables. With null, the connection's `search_path` is
   * used.
   */
  readonly schema: string | null;
  /**
   * How often single statements and transactions ran again after a conflict. Both numbers only
   * grow.
   */
  readonly retries: { readonly statements: number; readonly transactions: number };
  /** Returns the current numbers of used, idle and awaited connections. Null on SQLite. */
  connections(): DatabaseConnections | null;
  /** Returns the same store without time limits, for slow statements such as schema changes. */
  withoutTimeout(): OpenedDatabase;
  /** Waits for running writes and closes the connections. Rejects later statements. */
  close(): Promise<void>;
}

/** Options for a store on the application's own pool or file. */
export interface BorrowingOptions {
  /** PostgreSQL: the schema of the tables. The migration creates it if it is missing. */
  readonly schema?: string | null;
  /** How long a transaction may last, in seconds. Default: 30. */
  readonly transactionTimeout?: number;
  /**
   * After its first statement: how long a transaction may wait for anything except its statements,
   * in seconds. Default: 2.
   */
  readonly transactionIdleTimeout?: number;
  /** Measures these times. Defaults to the system's timer. */
  readonly timer?: Timer;
  /**
   * `fromPostgres`: the log for broken idle connections, if the pool has no `error` listener. An
   * application uses its own log by default. Without any log, they appear as Node process warnings.
   */
  readonly log?: Log;
}

/**
 * A store on the application's own pool or file. `fromPostgres`, `fromMysql` and `fromSqlite`
 * return it. When you close it, the application's pool or connection stays open.
 */
export interface BorrowedDatabase extends OpenedDatabase {
  /**
   * Opens a second store on the same pool or file. You must close it separately. The options
   * override the earlier ones.
   */
  open(options?: BorrowingOptions): OpenedDatabase;
}
