import type { ConfigurationProblem } from './contracts.ts';

/** The configuration cannot be used. The message names every problem, a line each: key in colon form, what to do. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  readonly problems: readonly ConfigurationProblem[];

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
  readonly status = 503;

  constructor() {
    super('Too many passwords are being checked at this moment');
  }
}
