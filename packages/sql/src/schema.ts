import type { SqlConnection, SqlDialect } from './contract.ts';

/** How the engine writes the column types of a schema. */
export interface ColumnTypes {
  /** At most 255 characters, compared byte by byte: case and trailing spaces count. */
  readonly identifier: string;
  /** Text of any length, compared byte by byte. */
  readonly text: string;
  /** Milliseconds since 1970, 64 bits. */
  readonly time: string;
  /** 0 or 1. */
  readonly flag: string;
  /** A primary key that the engine numbers. No number is given twice. */
  readonly counter: string;
  /** The end of a CREATE TABLE whose primary key is not a counter. */
  readonly tableOptions: string;
}

/** The connection for a step of the schema. */
export interface SchemaConnection extends SqlConnection {
  /** The engine of the schema. */
  readonly dialect: SqlDialect;
  /** How this engine writes the column types. */
  readonly types: ColumnTypes;
  /**
   * Runs a statement that changes the schema. MySQL and MariaDB commit each such change by itself.
   * There, an interrupted step runs again from its start, and skips changes that are already made.
   */
  readonly change: (statement: string) => Promise<void>;
}

/**
 * One step of the schema. Steps apply in the order of their names. A name starts with the plugin's
 * name.
 */
export interface Migration {
  /** Such as `oauth_server_0001_initial`. */
  readonly name: string;
  /**
   * Applies the step. It may run twice (see `change`), so statements that write data must allow for
   * that. To support `db:migrate up --print`, a step reads nothing and writes with
   * `INSERT … SELECT` and the like.
   */
  up(schema: SchemaConnection): Promise<void>;
}

/** A step that begins now. */
export interface BegunStep {
  /** Its name. */
  readonly name: string;
  /** Its position among the missing steps, from 1. */
  readonly number: number;
  /** How many steps are missing. */
  readonly of: number;
  /** Whether no step was applied before. Then the tables are empty, and no step takes long. */
  readonly isFirst: boolean;
}

/** A step of the schema, and whether it is applied. */
export interface MigrationState {
  /** The step's name. */
  readonly name: string;
  /** ISO 8601, or null if not applied yet. */
  readonly appliedAt: string | null;
}
