/**
 * Errors that one side throws and the other recognises, by `code` and not by class: a console that is installed
 * elsewhere brings a second copy of this package, and with it a second class of the same name.
 */
const CONFIGURATION = 'PORTICO_CONFIGURATION';
const OVERLOADED = 'PORTICO_OVERLOADED';

/** What is wrong with one key of the configuration. */
export interface ConfigurationProblem {
  /** Its parts joined by colons, such as `oauth_server:access_token_ttl`. */
  readonly key: string;
  /** What is wrong and what to do; reads on from the key. */
  readonly message: string;
}

/** The configuration cannot be used. The message names every problem, a line each: key in colon form, what to do. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  /** The same in every copy of the package. */
  readonly code = CONFIGURATION;
  /** Every problem, in the order of the configuration. */
  readonly problems: readonly ConfigurationProblem[];

  /** The message is made of the problems. */
  constructor(problems: readonly ConfigurationProblem[]) {
    super(problems.map(({ key, message }) => `${key}: ${message}`).join('\n'));
    this.problems = problems;
  }
}

/**
 * There is more to do than can be done soon; the same request may succeed later. A host's own password hasher throws it
 * rather than let requests wait. Answered 503.
 */
export class OverloadedError extends Error {
  override readonly name = 'OverloadedError';
  /** The same in every copy of the package. */
  readonly code = OVERLOADED;
  /** Service Unavailable (RFC 9110 section 15.6.4). */
  readonly status = 503;

  /** The message is for the log. */
  constructor(message = 'Too many passwords are being checked at this moment') {
    super(message);
  }
}

/** Whether an error is a ConfigurationError, of whichever copy of the package. */
export function isConfigurationError(error: unknown): error is ConfigurationError {
  return hasCode(error, CONFIGURATION);
}

/** Whether an error is an OverloadedError, of whichever copy of the package. */
export function isOverloaded(error: unknown): error is OverloadedError {
  return hasCode(error, OVERLOADED);
}

/** The code of an error of Node's, such as `ENOENT`, or of one of ours; null without one. */
export function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** Whether an error has this code, such as `ENOENT`. */
export function hasCode(error: unknown, code: string): boolean {
  return codeOf(error) === code;
}

/** What was asked for is out of range, or is not one of those that there are. The message says which there are, in one line. */
export class OutOfRangeError extends RangeError {
  override readonly name = 'RangeError';
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
