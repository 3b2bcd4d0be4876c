import type { SqlConnection, SqlDialect } from './contract.ts';

/** The engine's column types. */
export interface ColumnTypes {
  /**
   * A string of at most 255 characters, compared byte by byte, including case and trailing spaces.
   */
  readonly identifier: string;
  /** A string of any length, compared byte by byte. */
  readonly text: string;
  /** A time in milliseconds since 1970, with 64 bits. */
  readonly time: string;
  /** A flag: 0 or 1. */
  readonly flag: string;
  /** An auto-incrementing primary key. The engine never uses a number twice. */
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
   * Runs a statement that changes the schema. MySQL and MariaDB commit each change separately. If a
   * step is interrupted there, it runs again from its start and skips the changes that it has
   * already made.
   */
  readonly change: (statement: string) => Promise<void>;
}

/**
 * One step of the schema. Steps are applied in the order of their names. Begin a name with the name
 * of the plugin that adds the step, so that all names are different.
 */
export interface Migration {
  /** The step's name, for example `oauth_server_0001_initial`. */
  readonly name: string;
  /**
   * Applies the step. A step may run twice (see `change`), so a second run must not write its data
   * again. `db:migrate up --print` cannot print a step that reads data. Use statements like
   * `INSERT … SELECT` instead.
   */
  up(schema: SchemaConnection): Promise<void>;
}

/** A step that is about to begin. */
export interface BegunStep {
  /** The step's name. */
  readonly name: string;
  /** The step's position among the missing steps, from 1. */
  readonly number: number;
  /** The number of missing steps. */
  readonly of: number;
  /**
   * Whether this is the first migration of the database. All steps are then fast, because the
   * tables are empty.
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
