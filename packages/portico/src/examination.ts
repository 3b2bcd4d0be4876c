import type { Finding } from '@portico/sql';

/** A part of what the doctor reports of a feature. */
export interface Examination {
  /** Names it in the report, such as `administration`. */
  readonly part: string;
  /** What it finds now; empty where there is nothing to say. */
  readonly findings: () => readonly Finding[];
}
