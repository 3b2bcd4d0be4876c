import type { Database, SqlConnection, SqlDialect, SqlParameter } from './contract.ts';
import type { Examinations } from './examinations.ts';
import type { MeaningsOf } from './meaning.ts';
import type { ColumnTypes } from './schema.ts';

/**
 * The differences between the engines' SQL: one object per engine, in the engine's folder. All
 * other SQL is written once and asks this object.
 */
export interface Dialect extends StatementDialect, SchemaDialect {
  /** The engine. */
  readonly name: SqlDialect;
  /** Whether the engine runs in this process, on a file, and not on a server. */
  readonly isEmbedded: boolean;
  /** What the engine's errors mean. */
  readonly failures: MeaningsOf;
  /** What the doctor can examine. Loaded on demand. */
  examinations(): Promise<Examinations>;
  /**
   * How to copy a running database: a statement that takes a file name, or advice for the operator.
   */
  readonly copying: { readonly statement: string } | { readonly advice: string };
}

/** What statements about rows need. */
export interface StatementDialect {
  /**
   * Inserts `row`, such as `t (k, v) VALUES (?, ?)`, unless a row with the same `key`, such as
   * `(k)`, exists.
   */
  insertIfNone(row: string, key: string): string;
  /** The end of an INSERT that writes an existing row with this id again, unchanged. */
  readonly unlessThere: string;
  /**
   * Within a transaction: makes the next statements wait only briefly for a lock. Null where none
   * waits long.
   */
  readonly waitBriefly: string | null;
  /**
   * Whether a space-separated list has the word `?`. Pass the word with a space on each side.
   * Compares byte by byte, which LIKE does not do on every engine.
   */
  hasWord(list: string): string;
  /**
   * One statement that runs the UPDATE `claim`, and inserts a row with these columns only if the
   * update matched one. Null where this takes a transaction. Names of time columns end in `_at` or
   * `_after`.
   */
  claimAndInsert(claim: string, table: string, columns: string): string | null;
  /**
   * Whether everything that is read is durable. A restarted PostgreSQL primary also shows rows that
   * no standby has, and a standby may take over from it. There, only a write waits for the
   * standbys.
   */
  readonly readsAreForGood: boolean;
  /**
   * Whether the engine plans statements without their values. PostgreSQL then assumes an average
   * client, and reads a table by its key until it has found enough rows. It uses the index instead
   * if the order begins with the client and the condition does not show that there is only one (see
   * `isValue`).
   */
  readonly plansWithoutValues: boolean;
  /** Compares a column with `?` without showing the planner that the column has only one value. */
  isValue(column: string): string;
  /**
   * The rows that have this value and a smaller key, from the index of both, greatest key first.
   */
  belowInIndex(column: string, key: string): IndexRange;
}

/** A part of an index. */
export interface IndexRange {
  readonly sql: string;
  readonly order: string;
  parameters(value: SqlParameter, below: SqlParameter): readonly SqlParameter[];
}

/** What migrations need. */
export interface SchemaDialect {
  /**
   * How the engine writes the column types. Identifiers compare byte by byte, trailing spaces
   * included.
   */
  columnTypes(connection: SqlConnection): Promise<ColumnTypes>;
  /** Whether each entry of an index ends with the row's key. */
  readonly indexesEndWithKey: boolean;
  /**
   * The end of a CREATE INDEX for rows that meet this condition. Empty where an index always has
   * all rows.
   */
  partialIndex(condition: string): string;
  /**
   * Statements that leave room on each page of a table for the next version of a row. Updates then
   * write no index.
   */
  roomForUpdates(table: string): readonly string[];
  /**
   * Finds the table `?` in the schema where it would be created. On PostgreSQL, a SELECT from a
   * missing table would fail the transaction.
   */
  readonly findTable: string;
  /**
   * Takes the migration lock, for the transaction or for the session. Waits at most `seconds`,
   * where the engine can.
   */
  lock(connection: SqlConnection, name: string, seconds: number): Promise<void>;
  /** Releases a lock that does not end with the transaction. */
  unlock(connection: SqlConnection, name: string): Promise<void>;
  /** Whether a schema change failed because an interrupted step had already made it. */
  isDoneBefore(error: unknown): boolean;
  /** How to use schemas. Null where the engine has none. */
  readonly schemas: Schemas | null;
  /** A text as a literal in a printed statement. */
  quoted(text: string): string;
  /** The SQL for the current time in milliseconds, for printed statements. */
  readonly now: string;
}

/** The schemas of a database. */
export interface Schemas {
  /** What is wrong with the name, or null. */
  problem(name: string): string | null;
  /** Creates the schema if it is missing. */
  create(connection: SqlConnection, name: string): Promise<void>;
  /**
   * Statements before and after printed ones, so that these find their schema and the session stays
   * unchanged.
   */
  around(name: string): readonly [before: readonly string[], after: readonly string[]];
}

/** Anything with a dialect: a `Database`, also one that an application brings. */
export type OfDialect = { readonly dialect: Database['dialect'] };
