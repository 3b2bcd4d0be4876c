import type { SqlConnection, SqlDialect } from './contract.ts';

/** How the engine spells the kinds of column that a schema needs. */
export interface ColumnTypes {
  /** At most 255 characters, compared byte by byte: case and trailing spaces count. */
  readonly identifier: string;
  /** Text of any length, compared byte by byte. */
  readonly text: string;
  /** Milliseconds since 1970, 64 bits. */
  readonly time: string;
  /** 0 or 1. */
  readonly flag: string;
  /** A primary key that the engine numbers; a number is never given twice. */
  readonly counter: string;
  /** For the end of a CREATE TABLE whose primary key is not a counter. */
  readonly tableOptions: string;
}

/** What a step of the schema works with. */
export interface SchemaConnection extends SqlConnection {
  /** The engine that the schema is for. */
  readonly dialect: SqlDialect;
  /** How that engine spells the kinds of column. */
  readonly types: ColumnTypes;
  /**
   * Runs a statement that changes the schema. MySQL and MariaDB commit each of these by itself, so a step that was cut off
   * is run again there from its start: a change that was made already is skipped then.
   */
  readonly change: (statement: string) => Promise<void>;
}

/** One step of the schema. Names sort in the order of application and start with the plugin's name. */
export interface Migration {
  /** Such as `oauth_server_0001_initial`. */
  readonly name: string;
  /**
   * Applies the step. It may be run twice (see `change`), so a statement that writes data must allow for that. A step that reads
   * nothing, but writes what it needs as `INSERT … SELECT` and the like, can also be printed (`db:migrate up --print`).
   */
  up(schema: SchemaConnection): Promise<void>;
}

/** A step that begins now. */
export interface BegunStep {
  /** Its name. */
  readonly name: string;
  /** Which it is of those that are missing, from 1. */
  readonly number: number;
  /** How many are missing. */
  readonly of: number;
  /** Whether nothing was applied before, so that there are no rows that a step could take long over. */
  readonly isFirst: boolean;
}

/** A step of the schema, and whether it is applied. */
export interface MigrationState {
  /** The step's name. */
  readonly name: string;
  /** ISO 8601; null for one that is still to be applied. */
  readonly appliedAt: string | null;
}
