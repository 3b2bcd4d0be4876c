import type { SqlConnection, SqlDialect } from './contract.ts';

/** The engine's column types. */
export interface ColumnTypes {
  /** At most 255 characters, compared byte by byte, including case and trailing spaces. */
  readonly identifier: string;
  /** Text of any length, compared byte by byte. */
  readonly text: string;
  /** Milliseconds since 1970, 64 bits. */
  readonly time: string;
  /** 0 or 1. */
  readonly flag: string;
  /** A primary key that the engine numbers. Numbers are never reused. */
  readonly counter: string;
  /** The end of a CREATE TABLE whose primary key is not a counter. */
  readonly tableOptions: string;
}

/** The connection for a schema step. */
export interface SchemaConnection extends SqlConnection {
  /** The schema's engine. */
  readonly dialect: SqlDialect;
  /** This engine's column types. */
  readonly types: ColumnTypes;
  /**
   * Runs a statement that changes the schema. MySQL and MariaDB commit each such change separately.
   * There, an interrupted step runs again from its start and skips changes that were already made.
   */
  readonly change: (statement: string) => Promise<void>;
}

/**
 * One schema step. Steps are applied in the order of their names. A name starts with the plugin's
 * name.
 */
export interface Migration {
  /** The step's name, such as `oauth_server_0001_initial`. */
  readonly name: string;
  /**
   * Applies the step. It may run twice (see `change`), so a second run must not write data again.
   * To support `db:migrate up --print`, a step must not read data. Use statements such as `INSERT …
   * SELECT` instead.
   */
  up(schema: SchemaConnection): Promise<void>;
}

/** A step that begins now. */
export interface BegunStep {
  /** Its name. */
  readonly name: string;
  /** Its position among the missing steps, from 1. */
  readonly number: number;
  /** The number of missing steps. */
  readonly of: number;
  /**
   * Whether no step was applied before. In this case the tables are empty, and no step takes long.
   */
  readonly isFirst: boolean;
}

/** A schema step, and whether it is applied. */
export interface MigrationState {
  /** The step's name. */
  readonly name: string;
  /** ISO 8601, or null if not applied yet. */
  readonly appliedAt: string | null;
}
