import { isError } from './is-error.ts';

/**
 * Recognize errors by their `code`, not by their class. A CLI that is installed elsewhere contains
 * its own copy of this package, so two classes with the same name can exist.
 */
const CONFIGURATION = 'PORTICO_CONFIGURATION';
const OVERLOADED = 'PORTICO_OVERLOADED';

/** A problem with one configuration key. */
export interface ConfigurationProblem {
  /**
   * The configuration key, with colons between its parts, for example
   * `oauth_server:access_token_ttl`.
   */
  readonly key: string;
  /** What is wrong and what to do. The text follows the key, as in `name: is missing`. */
  readonly message: string;
}

/**
 * Thrown when the configuration is invalid. The message contains one line for each problem: the
 * configuration key, what is wrong, and what to do.
 */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  /** The error's code. It is the same in every copy of the package. */
  readonly code = CONFIGURATION;
  /** Every problem, in the order of the settings. */
  readonly problems: readonly ConfigurationProblem[];

  /** Builds the message from the problems, one per line. */
  constructor(problems: readonly ConfigurationProblem[]) {
    super(problems.map(({ key, message }) => `${key}: ${message}`).join('\n'));
    this.problems = problems;
  }
}

/**
 * Thrown when the server is overloaded. The client receives a 503 response and can try again. A
 * host's password hasher can throw this error to avoid a long queue.
 *
 * @example
 * if (waiting > 100) throw new OverloadedError('The queue of the password hasher is full');
 */
export class OverloadedError extends Error {
  override readonly name = 'OverloadedError';
  /** The error's code. It is the same in every copy of the package. */
  readonly code = OVERLOADED;
  /** The status of the response: Service Unavailable (RFC 9110 section 15.6.4). */
  readonly status = 503;

  /** `message` appears only in the log. */
  constructor(message = 'Too many passwords are being checked at this moment') {
    super(message);
  }
}

/**
 * Returns whether the error is a ConfigurationError, even if it comes from another copy of the
 * package.
 */
export function isConfigurationError(error: unknown): error is ConfigurationError {
  return hasCode(error, CONFIGURATION);
}

/**
 * Returns whether the error is an OverloadedError, even if it comes from another copy of the
 * package.
 */
export function isOverloaded(error: unknown): error is OverloadedError {
  return hasCode(error, OVERLOADED);
}

/**
 * Returns the `code` of an error from Node, for example `ENOENT`, or from Portico. Returns null if
 * the error has none.
 */
export function getErrorCode(error: unknown): string | null {
  return isError(error) && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** Returns whether the error has this code, for example `ENOENT`. */
export function hasCode(error: unknown, code: string): boolean {
  return getErrorCode(error) === code;
}

/**
 * Thrown when a value is out of range or not allowed. The message says which values are allowed, in
 * one line.
 */
export class OutOfRangeError extends RangeError {
  override readonly name = 'RangeError';
}

/** What the work of a transaction must not do, and what to do instead. */
const TRANSACTION_REFUSALS = {
  inside:
    'This call is inside a transaction and could wait for it forever. Use the connection ' +
    'that the transaction passes to your function',
  ended:
    'The transaction has already ended. Await every statement before your function returns ' +
    'or throws',
  idle:
    'The transaction was rolled back, because it ran no statement for too long. Do other ' +
    'work, such as network requests, before or after the transaction',
  late:
    'The transaction was rolled back, because it took too long. Do less in it, or use ' +
    '`withoutTimeout()`',
  procedure:
    'A procedure ended the transaction, with COMMIT, ROLLBACK or a schema change. Call it ' +
    'outside of a transaction',
} as const;

/**
 * Thrown when the work of a transaction breaks a rule. This is a bug in the application, on any
 * engine.
 */
export class TransactionError extends Error {
  override readonly name = 'TransactionError';
  /**
   * The rule that the work broke: it used the store instead of its connection, ran a statement
   * after the transaction's end, ran no statement for too long, took too long in total, or called
   * a procedure that ends the transaction.
   */
  readonly reason: keyof typeof TRANSACTION_REFUSALS;

  /**
   * Builds a message that says what to do instead. `options.cause` is the error of the statement
   * that broke the rule, if it failed.
   */
  constructor(reason: keyof typeof TRANSACTION_REFUSALS, options?: ErrorOptions) {
    super(TRANSACTION_REFUSALS[reason], options);
    this.reason = reason;
  }
}
