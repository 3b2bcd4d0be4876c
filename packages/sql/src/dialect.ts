import type { Database, SqlConnection, SqlDialect, SqlParameter } from './contract.ts';
import type { Examinations } from './examinations.ts';
import type { MeaningsOf } from './meaning.ts';
import type { ColumnTypes } from './schema.ts';

/**
 * The differences between the SQL of the engines. Each engine's folder contains one of these
 * objects. All other SQL is the same on all engines.
 */
export interface Dialect extends StatementDialect, SchemaDialect {
  /** The engine. */
  readonly name: SqlDialect;
  /**
   * Whether the engine runs in this process and uses a file. An embedded engine needs no server.
   */
  readonly isEmbedded: boolean;
  /** Returns the meanings of the engine's errors. */
  readonly failures: MeaningsOf;
  /** Loads and returns the checks that the doctor can run. */
  examinations(): Promise<Examinations>;
  /**
   * How to copy a running database: either a statement that you add a file name to, or advice for
   * the operator.
   */
  readonly copying: { readonly statement: string } | { readonly advice: string };
}

/** The parts of a dialect that statements about rows use. */
export interface StatementDialect {
  /**
   * Returns an INSERT for `row`, for example `t (k, v) VALUES (?, ?)`. The INSERT does nothing if a
   * row with the same `key`, for example `(k)`, exists.
   */
  insertIfNone(row: string, key: string): string;
  /** The end of an INSERT. If a row with this id exists, the INSERT rewrites that row unchanged. */
  readonly unlessThere: string;
  /**
   * A statement for use inside a transaction. The transaction's later statements wait only briefly
   * for a lock. Null if statements never wait long on this engine.
   */
  readonly waitBriefly: string | null;
  /**
   * The end of a SELECT in a transaction. This clause locks the selected rows, and skips rows that
   * another transaction has locked. Empty if a transaction locks everything anyway.
   */
  readonly lockingUnlocked: string;
  /**
   * Returns a condition: whether a space-separated list contains the word `?`. Pass the word with a
   * space on each side. The comparison is byte by byte, unlike LIKE on some engines.
   */
  hasWord(list: string): string;
  /**
   * Returns one statement that runs the UPDATE `claim`, and inserts a row with these columns if the
   * UPDATE matched a row. Returns null if the engine cannot do this in one statement. The names of
   * time columns must end in `_at` or `_after`.
   */
  claimAndInsert(claim: string, table: string, columns: string): string | null;
  /**
   * Whether every row that you read is durable. On PostgreSQL, a row may not be: a restarted
   * primary also returns rows that no standby has yet. If a standby takes over, these rows are
   * lost. Only a write waits for the standbys.
   */
  readonly readsAreForGood: boolean;
  /**
   * Whether the engine plans statements without the values of their parameters, as PostgreSQL does.
   * Such an engine assumes that every client has an average number of rows, and scans the primary
   * key. To make the engine use the index, put the client column first in ORDER BY and write the
   * condition with `isValue`.
   */
  readonly plansWithoutValues: boolean;
  /**
   * Returns a condition that compares a column with `?` without telling the planner that only one
   * value matches.
   */
  isValue(column: string): string;
  /**
   * Returns the range of index entries with this value and a smaller key, in descending order of
   * the key. The index must contain both columns.
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
   * Returns statements that reserve space in each page of a table. New versions of rows fit into
   * this space, so updates need not write to an index.
   */
  roomForUpdates(table: string): readonly string[];
  /**
   * A statement that looks up the table `?` in the current schema. This statement is needed because
   * on PostgreSQL, a SELECT from a missing table would make the whole transaction fail.
   */
  readonly findTable: string;
  /**
   * Takes the migration lock for the transaction or the session. Returns false if another process
   * still has the lock after `seconds`. The transaction must then end.
   */
  lock(connection: SqlConnection, name: string, seconds: number): Promise<boolean>;
  /** Releases the lock if the engine does not release it at the end of the transaction. */
  unlock(connection: SqlConnection, name: string): Promise<void>;
  /**
   * Whether a schema change failed because an earlier, interrupted run has already made the change.
   */
  isDoneBefore(error: unknown): boolean;
  /**
   * Whether waiting does not help, because an error is about the database file itself. For example,
   * the file cannot be opened, or the disk is full.
   */
  isAboutFile(error: unknown): boolean;
  /** Functions for schemas, or null if the engine has no schemas. */
  readonly schemas: Schemas | null;
  /** Returns a text as an SQL literal, for printed statements. */
  quoted(text: string): string;
  /** The SQL for the current time in milliseconds, for printed statements. */
  readonly now: string;
}

/** How to use the schemas of a database. */
export interface Schemas {
  /** Returns what is wrong with a schema name, or null if it is valid. */
  problem(name: string): string | null;
  /** Creates the schema if it is missing. */
  create(connection: SqlConnection, name: string): Promise<void>;
  /**
   * Returns statements to print around other statements: `before` selects the schema, and `after`
   * restores the session.
   */
  around(name: string): readonly [before: readonly string[], after: readonly string[]];
}

/**
 * An object with a dialect, for example a `Database`, which an application may have implemented.
 */
export type OfDialect = { readonly dialect: Database['dialect'] };
