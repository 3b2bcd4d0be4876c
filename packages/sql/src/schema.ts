import type { SqlConnection, SqlDialect } from './contract.ts';

/** The engine's column types. */
export interface ColumnTypes {
  /**
   * A text of at most 255 characters. It is compared as bytes, including case and trailing spaces.
   */
  readonly identifier: string;
  /** A text of any length. It is compared as bytes. */
  readonly text: string;
  /** A time in milliseconds since 1970, with 64 bits. */
  readonly time: string;
  /** A flag: 0 or 1. */
  readonly flag: string;
  /** A primary key with numbers from the engine. The engine never uses a number twice. */
  readonly counter: string;
  /** The end of a CREATE TABLE for a table whose primary key is not a counter. */
  readonly tableOptions: string;
}

/** The connection that a schema step uses. */
export interface SchemaConnection extends SqlConnection {
  /** The schema's engine. */
  readonly dialect: SqlDialect;
  /** This engine's column types. */
  readonly types: ColumnTypes;
  /**
   * Runs a statement that changes the schema. MySQL and MariaDB commit each change separately. So
   * on these engines, an interrupted step runs again from its start, and skips the changes that it
   * has already made.
   */
  readonly change: (statement: string) => Promise<void>;
}

/**
 * One step of the schema. Steps are applied in the order of their names. The name of a step starts
 * with the name of its plugin.
 */
export interface Migration {
  /** The step's name, such as `oauth_server_0001_initial`. */
  readonly name: string;
  /**
   * Applies the step. It may run twice (see `change`), so a second run must not write data again.
   * If you want to support `db:migrate up --print`, the step must not read data. Use statements
   * such as `INSERT … SELECT` instead.
   */
  up(schema: SchemaConnection): Promise<void>;
}

/** A step that is about to begin. */
export interface BegunStep {
  /** The step's name. */
  readonly name: string;
  /** The step's position among the missing steps. The first one is 1. */
  readonly number: number;
  /** The number of missing steps. */
  readonly of: number;
  /**
   * Whether no step was applied before this migration. The tables are then empty, and no step takes
   * long.
   */
  readonly isFirst: boolean;
}

/** A schema step, and whether it is applied. */
export interface MigrationState {
  /** The step's name. */
  readonly name: string;
  /** When the step was applied, in ISO 8601, or null if it is not applied yet. */
  readonly appliedAt: string | null;
}
