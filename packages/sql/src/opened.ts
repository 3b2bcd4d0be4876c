import type { Database } from './contract.ts';
import type { Log } from './log.ts';

/** The connections of a pool at this moment. */
export interface DatabaseConnections {
  /** Those that a statement or a transaction has. */
  readonly used: number;
  /** Those that are open and have nothing to do; null where the pool does not tell. */
  readonly idle: number | null;
  /** How many statements and transactions wait for one. */
  readonly waiting: number;
  /** How many there are at most; null where the pool does not tell. */
  readonly most: number | null;
}

/** The passing of time, for what waits. */
export interface Timer {
  /** Milliseconds since some moment; never goes back. */
  now(): number;
  /** Calls once, after so many milliseconds; returns what cancels that. */
  after(milliseconds: number, call: () => void): () => void;
}

/**
 * The application's own store, as `openDatabase` returns it. It begins a transaction anew after a deadlock or a serialisation
 * failure, and enforces the rules of `transaction`: inside of the work, statements that go to this store past the work's
 * connection are refused at once, and so are statements after the end, which waits for those that the work has not awaited. A
 * transaction is rolled back when it waits 2 seconds for anything but its statements, once the first of them has run, or when
 * it lasts 30 seconds. Each of these throws a `TransactionError`.
 */
export interface OpenedDatabase extends Database {
  /** PostgreSQL: the schema that every statement finds its tables in; null for where the connection's `search_path` leads. */
  readonly schema: string | null;
  /** How often a statement by itself, and a transaction, was run again: a conflict with others had undone it. They only grow. */
  readonly retries: { readonly statements: number; readonly transactions: number };
  /** The connections to a database server that are used, idle and waited for at this moment; null on SQLite. */
  connections(): DatabaseConnections | null;
  /** The same store without time limits, for statements that may take long, such as those that change the schema. */
  withoutTimeout(): OpenedDatabase;
  /** Waits for writes in flight and closes the connections; statements are refused afterwards. */
  close(): Promise<void>;
}

/** What is chosen for the store, on whatever it is. */
export interface BorrowingOptions {
  /** PostgreSQL: the schema that the tables are in. The migration makes it when it is missing. */
  readonly schema?: string | null;
  /** Seconds that a transaction may last; 30. */
  readonly transactionTimeout?: number;
  /** Seconds that a transaction may wait for anything but its statements, once the first of them has run; 2. */
  readonly transactionIdleTimeout?: number;
  /** Measures these times; the system's unless given. */
  readonly timer?: Timer;
  /**
   * `fromPostgres`: where a broken idle connection of a pool without an `error` listener is reported. An application's own log
   * unless given; without one, a warning of the process.
   */
  readonly log?: Log;
}

/**
 * A store on the application's own pool, or in its own file, as `fromPostgres`, `fromMysql` and `fromSqlite` return it. Closing it
 * closes nothing of the application's.
 */
export interface BorrowedDatabase extends OpenedDatabase {
  /** The store once more, on the same pool or file, to be closed by itself; what is given goes over what was chosen before. */
  open(options?: BorrowingOptions): OpenedDatabase;
}
