import type { Database } from './contract.ts';
import type { Log } from './log.ts';

/** A pool's connections right now. */
export interface DatabaseConnections {
  /** Connections that a statement or a transaction is using. */
  readonly used: number;
  /** Open connections that are not in use. Null if the pool does not tell. */
  readonly idle: number | null;
  /** How many statements and transactions wait for a connection. */
  readonly waiting: number;
  /** The maximum number of connections. Null if the pool does not tell. */
  readonly most: number | null;
}

/** Measures time for what waits. */
export interface Timer {
  /** Milliseconds since an arbitrary moment. Never goes back. */
  now(): number;
  /** Calls `call` once after so many milliseconds. Returns a function that cancels it. */
  after(milliseconds: number, call: () => void): () => void;
}

/**
 * A store that also enforces the rules of `transaction`. `openDatabase` returns one.
 *
 * A transaction runs again after a deadlock or a serialization failure. Inside its work, statements
 * on the store itself are refused at once: use the work's connection. The end waits for statements
 * that the work did not await, and refuses any later ones. A transaction is rolled back when it
 * waits 2 seconds for anything except its statements, after its first statement, or when it lasts
 * 30 seconds. Each of these throws a `TransactionError`.
 */
export interface OpenedDatabase extends Database {
  /**
   * PostgreSQL: the schema in which every statement finds its tables. Null uses the connection's
   * `search_path`.
   */
  readonly schema: string | null;
  /**
   * How often a single statement, and a transaction, ran again after a conflict. Both only grow.
   */
  readonly retries: { readonly statements: number; readonly transactions: number };
  /** The used, idle and awaited connections to a server right now. Null on SQLite. */
  connections(): DatabaseConnections | null;
  /**
   * The same store without time limits, for statements that may take long, such as schema changes.
   */
  withoutTimeout(): OpenedDatabase;
  /** Waits for running writes and closes the connections. Later statements are refused. */
  close(): Promise<void>;
}

/** Options of a store on the application's own pool or file. */
export interface BorrowingOptions {
  /** PostgreSQL: the schema of the tables. The migration creates it if it is missing. */
  readonly schema?: string | null;
  /** How long a transaction may last, in seconds; 30. */
  readonly transactionTimeout?: number;
  /**
   * How long a transaction may wait for anything except its statements after the first one, in
   * seconds; 2.
   */
  readonly transactionIdleTimeout?: number;
  /** Measures these times; the system's timer unless given. */
  readonly timer?: Timer;
  /**
   * `fromPostgres`: reports broken idle connections of a pool without an `error` listener. Without
   * a log, Node's process warnings report them. An application passes its own log unless you set
   * one.
   */
  readonly log?: Log;
}

/**
 * A store on the application's own pool or file, as `fromPostgres`, `fromMysql` and `fromSqlite`
 * return it. Closing it does not close the application's pool or connection.
 */
export interface BorrowedDatabase extends OpenedDatabase {
  /**
   * A second store on the same pool or file, which you close separately. The options override the
   * earlier ones.
   */
  open(options?: BorrowingOptions): OpenedDatabase;
}
