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
 * The server's responses to several reads that were sent together: either all results, in the order
 * of the reads, or the position and the error of the read that failed. If one read failed, the
 * others had no effect.
 */
export type SharedAnswer =
  | { readonly results: readonly StatementResult[] }
  | { readonly failed: number; readonly error: unknown };

/** A read whose caller waits for the result. */
export interface WaitingRead extends Read {
  readonly resolve: (result: StatementResult) => void;
  readonly reject: (error: unknown) => void;
}

/** The maximum number of reads in one batch. In a larger batch, each read would wait too long. */
const MOST_TOGETHER = 32;

/** The maximum number of parameters of a read that is sent together with others. */
const MOST_PARAMETERS = 100;

/** Matches a SELECT that locks no rows, creates no table and changes no setting. */
const IS_READ = new RegExp(
  String.raw`${BEFORE}SELECT\b(?![\s\S]*\b(?:FOR|INTO|set_config)\b)`,
  'i',
);

const isRead = keptByText((sql) => IS_READ.test(sql));

/**
 * Returns whether the statement can be sent together with other callers' reads. Returns false if it
 * has too many parameters, or if the driver rejects one of them, because the driver would then send
 * none of the reads.
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

  /** `send` sends the reads together and resolves or rejects each read. */
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

  #flush(): void {
    const reads = this.#waiting;
    this.#waiting = [];
    if (reads.length > 0) this.#send(reads);
  }
}
