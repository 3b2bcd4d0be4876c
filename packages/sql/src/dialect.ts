import type { Database, SqlConnection, SqlDialect, SqlParameter } from './contract.ts';
import type { Examinations } from './examinations.ts';
import type { MeaningsOf } from './meaning.ts';
import type { ColumnTypes } from './schema.ts';

/**
 * The differences between the engines' SQL. Each engine's folder contains one such object. All
 * other SQL is the same for every engine and uses this object.
 */
export interface Dialect extends StatementDialect, SchemaDialect {
  /** The engine. */
  readonly name: SqlDialect;
  /** Whether the engine runs in this process on a file, without a server. */
  readonly isEmbedded: boolean;
  /** Returns the meanings of the engine's errors. */
  readonly failures: MeaningsOf;
  /** Returns what the doctor can examine. Loaded on demand. */
  examinations(): Promise<Examinations>;
  /**
   * How to copy a running database: a statement to which a file name is added, or advice for the
   * operator.
   */
  readonly copying: { readonly statement: string } | { readonly advice: string };
}

/** The parts that statements about rows need. */
export interface StatementDialect {
  /**
   * Returns an INSERT for `row`, such as `t (k, v) VALUES (?, ?)`, that does nothing if a row with
   * the same `key`, such as `(k)`, exists.
   */
  insertIfNone(row: string, key: string): string;
  /** The end of an INSERT. If a row with this id exists, the INSERT writes it again, unchanged. */
  readonly unlessThere: string;
  /**
   * A statement for use in a transaction. It makes the next statements wait only briefly for a
   * lock. Null if statements never wait long on this engine.
   */
  readonly waitBriefly: string | null;
  /**
   * The end of a SELECT in a transaction that locks its rows and leaves out those that another
   * transaction has locked. Empty if a transaction already locks everything.
   */
  readonly lockingUnlocked: string;
  /**
   * Returns a condition: whether a space-separated list contains the word `?`. Pass the word with a
   * space on each side. Compares byte by byte, because LIKE does not do so on every engine.
   */
  hasWord(list: string): string;
  /**
   * Returns one statement that runs the UPDATE `claim`, and then inserts a row with these columns
   * if the UPDATE matched a row. Returns null if the engine needs a transaction for this. Time
   * columns must have names that end in `_at` or `_after`.
   */
  claimAndInsert(claim: string, table: string, columns: string): string | null;
  /**
   * Whether every row that is read is durable. After a restart, a PostgreSQL primary also returns
   * rows that no standby has yet. These rows are lost if a standby takes over. Only a write waits
   * for the standbys.
   */
  readonly readsAreForGood: boolean;
  /**
   * Whether the engine plans statements without knowing the parameters. In this case, PostgreSQL
   * assumes an average client and reads a table by its key until it has found enough rows. To make
   * it use the index, begin the order with the client and write the condition with `isValue`.
   */
  readonly plansWithoutValues: boolean;
  /**
   * Returns a condition that compares a column with `?`. It hides from the planner that the column
   * has only one value.
   */
  isValue(column: string): string;
  /**
   * Returns the range of index entries that have this value and a smaller key, greatest key first.
   * The index must contain both columns.
   */
  belowInIndex(column: string, key: string): IndexRange;
}

/** A part of an index. */
export interface IndexRange {
  readonly sql: string;
  readonly order: string;
  parameters(value: SqlParameter, below: SqlParameter): readonly SqlParameter[];
}

/** The parts that migrations need. */
export interface SchemaDialect {
  /**
   * Returns the engine's column types. Identifiers are compared byte by byte, including trailing
   * spaces.
   */
  columnTypes(connection: SqlConnection): Promise<ColumnTypes>;
  /** Whether each index entry ends with the row's key. */
  readonly indexesEndWithKey: boolean;
  /**
   * Returns the WHERE clause that limits a CREATE INDEX to rows that meet `condition`. Returns an
   * empty string if the engine has no partial indexes.
   */
  partialIndex(condition: string): string;
  /**
   * Returns statements that reserve space on each table page for a row's next version. Updates then
   * do not need to write to an index.
   */
  roomForUpdates(table: string): readonly string[];
  /**
   * A statement that looks for the table `?` in the schema where it would be created. On
   * PostgreSQL, a SELECT from a missing table would make the transaction fail.
   */
  readonly findTable: string;
  /**
   * Takes the migration lock for the transaction or the session. Waits at most `seconds`, if the
   * engine supports it.
   */
  lock(connection: SqlConnection, name: string, seconds: number): Promise<void>;
  /** Releases the lock if it does not end with the transaction. */
  unlock(connection: SqlConnection, name: string): Promise<void>;
  /** Whether a schema change failed because an interrupted step had already made it. */
  isDoneBefore(error: unknown): boolean;
  /** How to use schemas. Null if the engine does not have schemas. */
  readonly schemas: Schemas | null;
  /** Returns a text as a literal for a printed statement. */
  quoted(text: string): string;
  /** The SQL for the current time in milliseconds, for printed statements. */
  readonly now: string;
}

/** A database's schemas. */
export interface Schemas {
  /** Returns what is wrong with the name, or null. */
  problem(name: string): string | null;
  /** Creates the schema if it is missing. */
  create(connection: SqlConnection, name: string): Promise<void>;
  /**
   * Returns the statements to print before and after other printed statements. They select the
   * schema and then restore the session.
   */
  around(name: string): readonly [before: readonly string[], after: readonly string[]];
}

/** Any object with a dialect, such as a `Database`, even one that the application implements. */
export type OfDialect = { readonly dialect: Database['dialect'] };
