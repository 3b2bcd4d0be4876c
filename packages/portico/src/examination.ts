import type { Finding } from '@portico/sql';

/** A part of what the doctor reports of a feature. */
export interface Examination {
  /** Names it in the report, such as `administration`. */
  readonly part: string;
  /** Its findings now; empty if there is nothing to report. */
  readonly findings: () => readonly Finding[];
}
