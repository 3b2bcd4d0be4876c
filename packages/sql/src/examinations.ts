import type { SqlConnection } from './contract.ts';
import type { Finding } from './findings.ts';

/** A database as the doctor looks at it. */
export interface ExaminedDatabase {
  readonly database: SqlConnection;
  /**
   * The connection pool: its maximum size, and how many seconds a connection is used. Null if
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
 * What a doctor can examine on an engine. docs/running-on-several-machines.md explains the
 * findings.
 */
export interface Examinations {
  readonly parts: readonly (readonly [part: string, Examination])[];
  /** Why a database answers only questions about itself, or null if unknown. */
  findUnready(database: SqlConnection): Promise<Finding | null>;
}
