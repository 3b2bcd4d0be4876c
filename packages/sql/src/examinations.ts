import type { SqlConnection } from './contract.ts';
import type { Finding } from './findings.ts';

/** A database that the doctor examines. */
export interface ExaminedDatabase {
  readonly database: SqlConnection;
  /**
   * The maximum size of the connection pool and the lifetime of a connection in seconds. Null if
   * unknown.
   */
  readonly pool?: Pool | null;
}

export interface Pool {
  readonly size: number;
  readonly lifetime: number;
}

export type Examination = (examined: ExaminedDatabase) => Promise<readonly Finding[]>;

/**
 * The checks that the doctor can run on an engine. docs/running-on-several-machines.md explains
 * their findings.
 */
export interface Examinations {
  readonly parts: readonly (readonly [part: string, Examination])[];
  /**
   * Returns the reason why a database rejects statements, although it answers queries about its own
   * state. Returns null if it finds no reason. Call this after a statement has failed.
   */
  findUnready(database: SqlConnection): Promise<Finding | null>;
}
