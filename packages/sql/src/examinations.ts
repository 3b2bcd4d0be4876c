import type { Database } from './contract.ts';
import type { Finding } from './findings.ts';

/** A database as the doctor looks at it. */
export interface ExaminedDatabase {
  readonly database: Pick<Database, 'execute'>;
  /** The pool of connections to it: how many at most, and for how many seconds one is used. Null when that is not known. */
  readonly pool?: Pool | null;
}

export interface Pool {
  readonly size: number;
  readonly lifetime: number;
}

export type Examination = (examined: ExaminedDatabase) => Promise<readonly Finding[]>;

/** What a doctor can find out of an engine. docs/running-on-several-machines.md says what a reader of the findings needs to know. */
export interface Examinations {
  readonly parts: readonly (readonly [part: string, Examination])[];
  /** Why a database answers nothing but questions about itself; null where that is not known. */
  findUnready(database: Pick<Database, 'execute'>): Promise<Finding | null>;
}
