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
