import type { ConfigurationProblem, ViewProblem } from './contracts.ts';

/** The configuration cannot be used. The message names every problem, a line each: key in colon form, what to do. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  /** Every problem, in the order of the configuration. */
  readonly problems: readonly ConfigurationProblem[];

  /** The message is made of the problems. */
  constructor(problems: readonly ConfigurationProblem[]) {
    super(problems.map(({ key, message }) => `${key}: ${message}`).join('\n'));
    this.problems = problems;
  }
}

/** A console command cannot be carried out; the message is the one line that the person reads. */
export class ConsoleError extends Error {
  override readonly name = 'ConsoleError';
}

/** There is more to do than can be done soon; the same request may succeed later. Answered 503. */
export class OverloadedError extends Error {
  override readonly name = 'OverloadedError';
  /** Service Unavailable (RFC 9110 section 15.6.4). */
  readonly status = 503;

  constructor() {
    super('Too many passwords are being checked at this moment');
  }
}

/** A view cannot be compiled, or failed while it was shown. The message begins with file and line; the cause is what failed. */
export class ViewError extends Error implements ViewProblem {
  override readonly name = 'ViewError';
  /** The view's file, absolute. */
  readonly file: string;
  /** Counted from 1; null when it is not known. */
  readonly line: number | null;
  /** What is wrong, in a few words. */
  readonly reason: string;

  /** `cause` is what the engine or the view itself threw. */
  constructor({ file, line, reason }: ViewProblem, cause: unknown) {
    super(`${file}${line === null ? '' : `:${line}`}: ${reason}`, { cause });
    this.file = file;
    this.line = line;
    this.reason = reason;
  }
}

/** What a transaction's work may not do, and what to do instead. */
const TRANSACTION_REFUSALS = {
  inside:
    'This is inside of a transaction, which would wait for it, and it for the transaction: use the connection that the work was given',
  ended: 'The transaction has ended: await every statement before its work returns or throws',
  idle: 'The transaction was rolled back, since it waited for something else than its statements: do that before it, or after it',
  late: 'The transaction was rolled back, since it lasted too long: do less in it, or use `withoutTimeout()`',
} as const;

/** The work of a transaction does what it must not: a mistake of the application, whatever the engine. */
export class TransactionError extends Error {
  override readonly name = 'TransactionError';
  /** It asked the store past its connection, came after the end, waited for something else, or took too long. */
  readonly reason: keyof typeof TRANSACTION_REFUSALS;

  /** Says in its message what to do instead. */
  constructor(reason: keyof typeof TRANSACTION_REFUSALS) {
    super(TRANSACTION_REFUSALS[reason]);
    this.reason = reason;
  }
}
