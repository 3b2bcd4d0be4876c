/**
 * Errors are recognized by `code` and not by class. A CLI that is installed elsewhere has its own
 * copy of this package, so there may be two classes with the same name.
 */
const CONFIGURATION = 'PORTICO_CONFIGURATION';
const OVERLOADED = 'PORTICO_OVERLOADED';

/** A problem with one configuration key. */
export interface ConfigurationProblem {
  /** The key's parts joined by colons, such as `oauth_server:access_token_ttl`. */
  readonly key: string;
  /** What is wrong and what to do. The text follows the key, as in `name: is missing`. */
  readonly message: string;
}

/**
 * Thrown when the configuration is invalid. The message has one line for each problem, with the
 * configuration key in colon form and what to do.
 */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
  /** Identical in every copy of the package. */
  readonly code = CONFIGURATION;
  /** Every problem, in the order of the configuration. */
  readonly problems: readonly ConfigurationProblem[];

  /** Builds the message from the problems. */
  constructor(problems: readonly ConfigurationProblem[]) {
    super(problems.map(({ key, message }) => `${key}: ${message}`).join('\n'));
    this.problems = problems;
  }
}

/**
 * Thrown when there is too much work. The response is 503, and the same request may succeed later.
 * A host's password hasher throws this to avoid a long queue.
 */
export class OverloadedError extends Error {
  override readonly name = 'OverloadedError';
  /** Identical in every copy of the package. */
  readonly code = OVERLOADED;
  /** Service Unavailable (RFC 9110 section 15.6.4). */
  readonly status = 503;

  /** The message is for the log. */
  constructor(message = 'Too many passwords are being checked at this moment') {
    super(message);
  }
}

/** Whether the error is a ConfigurationError, even one from another copy of the package. */
export function isConfigurationError(error: unknown): error is ConfigurationError {
  return hasCode(error, CONFIGURATION);
}

/** Whether the error is an OverloadedError, even one from another copy of the package. */
export function isOverloaded(error: unknown): error is OverloadedError {
  return hasCode(error, OVERLOADED);
}

/**
 * Returns the error's code: a Node code such as `ENOENT`, or one of ours. Returns null if there is
 * none.
 */
export function getErrorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : null;
}

/** Whether the error has this code, such as `ENOENT`. */
export function hasCode(error: unknown, code: string): boolean {
  return getErrorCode(error) === code;
}

/**
 * Thrown when a value is out of range or not allowed. The message lists the allowed values in one
 * line.
 */
export class OutOfRangeError extends RangeError {
  override readonly name = 'RangeError';
}

/** What a transaction's work must not do, with advice. */
const TRANSACTION_REFUSALS = {
  inside:
    'This call is inside a transaction and would wait for it forever. Use the connection ' +
    'that the transaction passes to your function',
  ended:
    'The transaction has already ended. Await every statement before your function returns ' +
    'or throws',
  idle:
    'The transaction was rolled back, because it waited for something other than its ' +
    'statements. Do that before or after the transaction',
  late:
    'The transaction was rolled back, because it took too long. Do less in it, or use ' +
    '`withoutTimeout()`',
} as const;

/**
 * Thrown when a transaction's work breaks a rule. This is a bug in the application, on every
 * engine.
 */
export class TransactionError extends Error {
  override readonly name = 'TransactionError';
  /**
   * Which rule the work broke: it used the store instead of its connection, ran a statement after
   * the end, waited for something else, or took too long.
   */
  readonly reason: keyof typeof TRANSACTION_REFUSALS;

  /** The message says what to do instead. */
  constructor(reason: keyof typeof TRANSACTION_REFUSALS) {
    super(TRANSACTION_REFUSALS[reason]);
    this.reason = reason;
  }
}
