import type { Database, SqlConnection, SqlDialect, SqlParameter } from './contract.ts';
import type { Examinations } from './examinations.ts';
import type { MeaningsOf, RemedyOf } from './meaning.ts';
import type { ColumnTypes } from './schema.ts';

/**
 * The differences between the engines' SQL. Each engine's folder contains one object of this type.
 * All other SQL is the same on all engines.
 */
export interface Dialect extends StatementDialect, SchemaDialect {
  /** The engine. */
  readonly name: SqlDialect;
  /**
   * Whether the engine runs in this process and uses a file. An embedded engine needs no server.
   */
  readonly isEmbedded: boolean;
  /** Returns what an error of the engine means for a statement. */
  readonly failures: MeaningsOf;
  /**
   * Returns what to do about an error that is caused by a wrong database URL or a wrong database
   * account.
   */
  readonly remedy: RemedyOf;
  /** Loads and returns the checks that the doctor can run. */
  examinations(): Promise<Examinations>;
  /**
   * How to copy a running database. This is either a statement whose parameter is the name of the
   * new file, or advice for the operator.
   */
  readonly copying: { readonly statement: string } | { readonly advice: string };
}

/** The parts of a dialect for statements that read and write rows. */
export interface StatementDialect {
  /**
   * Returns an INSERT for `row`, for example `t (k, v) VALUES (?, ?)`. The INSERT does nothing if a
   * row with the same `key`, for example `(k)`, exists.
   */
  insertIfNone(row: string, key: string): string;
  /**
   * The end of an INSERT statement. With this end, the INSERT rewrites an existing row with the
   * same id unchanged.
   */
  readonly unlessThere: string;
  /**
   * A statement to run inside a transaction. After this statement, the transaction waits only
   * briefly for a lock. Null if statements never wait long on this engine.
   */
  readonly waitBriefly: string | null;
  /**
   * The end of a SELECT. It locks the selected rows until the end of the transaction. Empty on an
   * engine whose transactions lock the whole database.
   */
  readonly locking: string;
  /** Like `locking`, but skips rows that another transaction has locked. */
  readonly lockingUnlocked: string;
  /**
   * Returns a condition that checks whether a space-separated list contains the word `?`. Pass the
   * word with a space on each side. Compares byte by byte, unlike LIKE on some engines.
   */
  hasWord(list: string): string;
  /**
   * Returns one statement that runs the UPDATE `claim`, and inserts a row with these columns if the
   * UPDATE matched a row. Returns null if the engine cannot do this in one statement. The names of
   * time columns must end in `_at` or `_after`.
   */
  claimAndInsert(claim: string, table: string, columns: string): string | null;
  /**
   * Whether every row that you read is durable. On PostgreSQL, a row may not be durable: after a
   * restart, a primary also returns rows that no standby has received. If a standby then takes
   * over, these rows are lost. Only writes wait for the standbys.
   */
  readonly readsAreForGood: boolean;
  /**
   * Returns a statement that adds no row to the table `table` with a column `id`, but whose commit
   * waits for the standbys, like each write. Earlier commits are then durable too. Null if
   * `readsAreForGood` is true.
   */
  awaitEarlierCommits(table: string): string | null;
  /**
   * Whether the engine plans a statement before it knows the parameters' values, as PostgreSQL can.
   * For a client with few rows, it may then scan the whole primary key instead of the index on the
   * client column. To make it use that index, put the client column first in ORDER BY, and write
   * the condition with `isValue`.
   */
  readonly plansWithoutValues: boolean;
  /**
   * Returns a condition that compares a column with `?`. It hides from the planner that only one
   * value matches.
   */
  isValue(column: string): string;
  /**
   * Returns the range of index entries with this value and a lower key, from the highest key to the
   * lowest. The index must contain both columns.
   */
  belowInIndex(column: string, key: string): IndexRange;
}

/** A range of entries in an index. */
export interface IndexRange {
  readonly sql: string;
  readonly order: string;
  parameters(value: SqlParameter, below: SqlParameter): readonly SqlParameter[];
}

/** The parts of a dialect that migrations use. */
export interface SchemaDialect {
  /**
   * Returns the engine's column types. Identifiers are compared as bytes, including trailing
   * spaces.
   */
  columnTypes(connection: SqlConnection): Promise<ColumnTypes>;
  /** Whether each entry of an index ends with the row's key. */
  readonly indexesEndWithKey: boolean;
  /**
   * Returns the WHERE clause of a CREATE INDEX that contains only the rows that meet `condition`.
   * Returns an empty string if the engine has no partial indexes.
   */
  partialIndex(condition: string): string;
  /**
   * Returns statements that reserve free space in each page of a table. New versions of rows fit
   * into this space, so updates need not write to an index.
   */
  roomForUpdates(table: string): readonly string[];
  /**
   * A statement that looks for the table `?` in the current schema. It is needed because on
   * PostgreSQL, a SELECT from a missing table would make the whole transaction fail.
   */
  readonly findTable: string;
  /**
   * Takes the migration lock for the transaction or the session. Returns false if another process
   * still has the lock after `seconds`. The transaction must then end.
   */
  lock(connection: SqlConnection, name: string, seconds: number): Promise<boolean>;
  /** Releases the lock if the engine does not release it at the end of the transaction. */
  unlock(connection: SqlConnection, name: string): Promise<void>;
  /** Returns whether a schema change failed because an earlier, interrupted run already made it. */
  isDoneBefore(error: unknown): boolean;
  /**
   * Returns whether an error is about the database file itself, so that waiting does not help. For
   * example, the file cannot be opened, or the disk is full.
   */
  isAboutFile(error: unknown): boolean;
  /** How to use schemas, or null if the engine has no schemas. */
  readonly schemas: Schemas | null;
  /** Returns the text as an SQL literal, for printed statements. */
  quoted(text: string): string;
  /** The SQL for the current time in milliseconds, for printed statements. */
  readonly now: string;
}

/** How to use a database's schemas. */
export interface Schemas {
  /** Returns what is wrong with a schema name, or null if it is valid. */
  problem(name: string): string | null;
  /** Creates the schema if it is missing. */
  create(connection: SqlConnection, name: string): Promise<void>;
  /**
   * Returns statements to print around other statements: `before` creates the schema if it is
   * missing and selects it, and `after` restores the session.
   */
  around(name: string): readonly [before: readonly string[], after: readonly string[]];
}

/** An object with a dialect, for example a `Database`. */
export type OfDialect = { readonly dialect: Database['dialect'] };
