import type { SqlParameter } from './contract.ts';
import type { StatementResult } from './engine.ts';
import { keptByText } from './kept-by-text.ts';
import { BEFORE } from './transaction-control.ts';

/** A statement that only reads. */
export interface Read {
  readonly sql: string;
  readonly parameters: readonly SqlParameter[];
}

/**
 * The answers of a server to several reads that were sent together: either all results, in the
 * order of the reads, or the position and the error of the read that failed. If one read failed, no
 * read took effect.
 */
export type SharedAnswer =
  | { readonly results: readonly StatementResult[] }
  | { readonly failed: number; readonly error: unknown };

/** A read whose caller waits for the result. */
export interface WaitingRead extends Read {
  readonly resolve: (result: StatementResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * How many reads are sent together at most. With more, the reads would wait longer for each other.
 */
const MOST_TOGETHER = 32;

/** How many parameters a shared read has at most. */
const MOST_PARAMETERS = 100;

/** Matches a SELECT that locks no rows, creates no table and changes no setting. */
const IS_READ = new RegExp(
  String.raw`${BEFORE}SELECT\b(?![\s\S]*\b(?:FOR|INTO|set_config)\b)`,
  'i',
);

const isRead = keptByText((sql) => IS_READ.test(sql));

/**
 * Whether the statement can be sent with reads of other callers. A statement with a parameter that
 * the driver rejects cannot be shared, because the driver would then send none of the reads.
 */
export function isShareable({ sql, parameters }: Read): boolean {
  return (
    isRead(sql) &&
    parameters.length <= MOST_PARAMETERS &&
    parameters.every((each) => typeof each !== 'object' || each === null)
  );
}

/** Collects the reads that start in one turn of the event loop. */
export class SharedReads {
  readonly #send: (reads: readonly WaitingRead[]) => void;
  #waiting: WaitingRead[] = [];

  /** `send` runs the reads together and answers each read. */
  constructor(send: (reads: readonly WaitingRead[]) => void) {
    this.#send = send;
  }

  execute(read: Read): Promise<StatementResult> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#flush());
      this.#waiting.push({ ...read, resolve, reject });
      if (this.#waiting.length === MOST_TOGETHER) this.#flush();
    });
  }

  /** Sends the reads that have been collected. */
  #flush(): void {
    const reads = this.#waiting;
    this.#waiting = [];
    if (reads.length > 0) this.#send(reads);
  }
}
