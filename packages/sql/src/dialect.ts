import type { Database, SqlConnection, SqlDialect, SqlParameter } from './contract.ts';
import type { Examinations } from './examinations.ts';
import type { ColumnTypes } from './schema.ts';

/**
 * Where the SQL of the engines differs: one object for each engine, in that engine's folder. Everything else is written once, and asks
 * this object.
 */
export interface Dialect extends StatementDialect, SchemaDialect {
  /** The engine. */
  readonly name: SqlDialect;
  /** Whether the engine runs in this process, on a file that is its own, and not on a server. */
  readonly isEmbedded: boolean;
  /** What the doctor can find out of it, loaded when it is asked for. */
  examinations(): Promise<Examinations>;
  /** How a running database is copied: a statement that takes a file's name, or what the operator does instead. */
  readonly copying: { readonly statement: string } | { readonly advice: string };
}

/** What statements on rows need. */
export interface StatementDialect {
  /** Inserts `row`, such as `t (k, v) VALUES (?, ?)`, unless there is one with the same `key`, such as `(k)`. */
  insertIfNone(row: string, key: string): string;
  /** After an INSERT: where there is a row with this id, that is written as it is. */
  readonly unlessThere: string;
  /** Within a transaction: its next statements wait only briefly for a lock. Null where none waits for long. */
  readonly waitBriefly: string | null;
  /** Whether a list of words has the word `?`, which is given with a space on each side. Byte by byte, which LIKE is not everywhere. */
  hasWord(list: string): string;
  /**
   * One statement that runs the UPDATE `claim` and inserts a row, with these columns, only if that found one. Null where it takes a
   * transaction. Columns of times end in `_at` or `_after`.
   */
  claimAndInsert(claim: string, table: string, columns: string): string | null;
  /**
   * Whether what is read is there for good. A restarted primary of PostgreSQL also shows what none of its standbys has, and one of them may
   * take over from it: there only a write waits for them.
   */
  readonly readsAreForGood: boolean;
  /**
   * Whether statements are planned without their values. PostgreSQL takes any client for the usual one then, and reads a table by its
   * key until it has met enough rows of it. An order that begins with the client, and is not said to be of one alone, leaves it the index.
   */
  readonly plansWithoutValues: boolean;
  /** That a column is `?`, so that an order by it is still one that only its index has. */
  isValue(column: string): string;
  /** The rows of one value below a key, from the index of both, greatest key first. */
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
  /** How the engine spells the kinds of column. Identifiers compare byte by byte, trailing spaces included. */
  columnTypes(connection: SqlConnection): Promise<ColumnTypes>;
  /** Whether indexes end each entry with the row's key. */
  readonly indexesEndWithKey: boolean;
  /** The end of a CREATE INDEX for rows of this condition; empty where indexes are of all rows. */
  partialIndex(condition: string): string;
  /** What leaves room on each page of a table for the next version of a row: then no index is written with it. */
  roomForUpdates(table: string): readonly string[];
  /** Finds the table `?` where it would be created; a SELECT from it would fail the transaction that it is in, on PostgreSQL. */
  readonly findTable: string;
  /** Takes the lock of a migration, for the transaction or for the session. Waits for so many seconds at most, where the engine can. */
  lock(connection: SqlConnection, name: string, seconds: number): Promise<void>;
  /** Gives back what does not end with the transaction. */
  unlock(connection: SqlConnection, name: string): Promise<void>;
  /** Whether a change of the schema failed since it was made before, by a step that was cut off. */
  isDoneBefore(error: unknown): boolean;
  /** How a database has several schemas; null where it has none. */
  readonly schemas: Schemas | null;
  /** The text of a value in a statement that is printed. */
  quoted(text: string): string;
  /** The time in milliseconds, when a printed statement runs. */
  readonly now: string;
}

/** The schemas of a database. */
export interface Schemas {
  /** What is wrong with the name; null when nothing is. */
  problem(name: string): string | null;
  /** Makes the schema where it is missing. */
  create(connection: SqlConnection, name: string): Promise<void>;
  /** What stands before and after printed statements, so that they find their schema and the session stays as it was. */
  around(name: string): readonly [before: readonly string[], after: readonly string[]];
}

/** What names an engine: a `Database`, also one that an application brought. */
export type OfDialect = { readonly dialect: Database['dialect'] };
