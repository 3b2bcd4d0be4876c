import type { SqlConnection } from './contract.ts';
import type { Finding } from './findings.ts';

/** A database that the doctor examines. */
export interface ExaminedDatabase {
  readonly database: SqlConnection;
  /**
   * The connection pool's maximum size, and for how many seconds a connection is used. Null if
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
 * What the doctor can examine on an engine. docs/running-on-several-machines.md explains the
 * findings.
 */
export interface Examinations {
  readonly parts: readonly (readonly [part: string, Examination])[];
  /** Returns why a database answers only questions about itself, or null if unknown. */
  findUnready(database: SqlConnection): Promise<Finding | null>;
}
