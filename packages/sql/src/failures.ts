import { DIALECTS } from './engines.ts';
import { getErrorCodes, type Meaning } from './meaning.ts';
import { isError } from './is-error.ts';

/**
 * Returns what an error means. Checks the error with every engine, because each engine recognizes
 * only its own errors.
 */
const meanings = (error: Error) =>
  Object.values(DIALECTS).flatMap(({ failures }) => failures(error));

const means = (error: unknown, meaning: Meaning): error is Error =>
  isError(error) && meanings(error).includes(meaning);

/**
 * Returns whether the error means that the store cannot be reached, is too busy, is read-only, or
 * refuses the connection. The same call may succeed later or on another server.
 */
export function isUnavailable(error: unknown): boolean {
  return causes(error).some(saysUnavailable);
}

/**
 * Returns whether the statement or transaction can run again, because a conflict rolled it back or
 * because of a prepared statement's name (`isAboutName`).
 */
export function isWorthRetrying(error: unknown): boolean {
  return causes(error).some((cause) => isAboutName(cause) || means(cause, 'conflict'));
}

/** Returns whether, after this error, it is unknown if the statement or commit took effect. */
export function isUnknown(error: unknown): boolean {
  return means(error, 'unknown');
}

/** Returns whether the server refuses the user, the password or the database of the connection. */
export function isRefused(error: unknown): boolean {
  return means(error, 'refused');
}

/** Returns whether the error means that the server is read-only. */
export function isReadOnly(error: unknown): boolean {
  return means(error, 'read-only');
}

/**
 * Returns whether a statement failed because the name of a prepared statement was wrong, on
 * PostgreSQL. The statement then did nothing. The next attempt uses another name or none.
 */
export function isAboutName(error: unknown): boolean {
  return means(error, 'name');
}

const CONFLICTS = 'PORTICO_CONFLICTS';
const NO_CONNECTION = 'PORTICO_NO_CONNECTION';
const FOREIGN_TRANSACTION = 'PORTICO_FOREIGN_TRANSACTION';
const ROLLED_BACK = 'PORTICO_ROLLED_BACK';

/**
 * Creates the error for a transaction that failed because other transactions repeatedly changed the
 * same rows.
 */
export function tooManyConflicts(cause: unknown): Error {
  const message =
    'Other transactions kept changing the same ' +
    `rows: ${cause instanceof Error ? cause.message : String(cause)}`;
  return Object.assign(new Error(message, { cause }), { code: CONFLICTS });
}

/** Creates the error for a request that got no connection from the pool. */
export function noConnection(message: string): Error {
  return Object.assign(new Error(message), { code: NO_CONNECTION });
}

/**
 * Creates the error for statements that ran inside a transaction that the application had left
 * open. These statements are never committed, because Portico closes the connection.
 */
export function foreignTransaction(): Error {
  const message = 'The application left a transaction open on this connection';
  return Object.assign(new Error(message), { code: FOREIGN_TRANSACTION });
}

/**
 * Creates the error for a commit that PostgreSQL turned into a rollback. A statement had failed,
 * and the work ignored the error.
 */
export function rolledBack(): Error {
  const message = 'The transaction was rolled back, because a statement had failed';
  return Object.assign(new Error(message), { code: ROLLED_BACK });
}

/**
 * Returns whether the error contains a response from the server which shows that nothing took
 * effect.
 */
export function isFoundUndone(error: unknown): boolean {
  return isError(error) && getErrorCodes(error).some((code) => FOUND_UNDONE.has(code));
}
const FOUND_UNDONE: ReadonlySet<unknown> = new Set([FOREIGN_TRANSACTION, ROLLED_BACK]);

/** The error codes of Portico and Node for a store that is unavailable. */
const UNREACHABLE: ReadonlySet<unknown> = new Set([
  CONFLICTS,
  NO_CONNECTION,
  FOREIGN_TRANSACTION,
  'EADDRNOTAVAIL',
  'EAI_AGAIN',
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'EPROTO',
  'ENOTFOUND',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'ETIMEDOUT',
]);
/**
 * The system calls that find a server and connect to it. If one of them fails for any reason, the
 * server cannot be reached. For example, a stopped server's socket does not exist (ENOENT).
 */
const REACHING: ReadonlySet<unknown> = new Set(['connect', 'getaddrinfo']);
/**
 * The error codes of OpenSSL and Node for a TLS connection that fails, for example because the
 * server's certificate has expired.
 */
const TLS_FAILURE =
  /^(?:ERR_SSL_|ERR_TLS_CERT_|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_SELF_SIGNED_)/;
const UNAVAILABLE: ReadonlySet<Meaning | undefined> = new Set([
  'unavailable',
  'read-only',
  'refused',
  'unknown',
]);

/**
 * Returns the error's message. If connections to several addresses failed, returns the messages of
 * all of them, because Node's own error then has an empty message.
 */
export function describeCause(error: Error): string {
  if (error.message !== '' || !(error instanceof AggregateError)) return error.message;
  const messages = error.errors.map((each: unknown) =>
    each instanceof Error ? each.message : String(each),
  );
  return messages.join('; ');
}

/** Returns whether the server was not found, or did not accept a connection. */
export function isUnreachable(error: unknown): boolean {
  return causes(error).some(failsToReach);
}

function failsToReach(error: Error): boolean {
  return 'syscall' in error && REACHING.has(error.syscall);
}

function saysUnavailable(error: Error): boolean {
  return (
    failsToReach(error) ||
    getErrorCodes(error).some((code) => UNREACHABLE.has(code) || isTlsFailure(code)) ||
    meanings(error).some((meaning) => UNAVAILABLE.has(meaning))
  );
}

function isTlsFailure(code: unknown): boolean {
  return typeof code === 'string' && TLS_FAILURE.test(code);
}

/**
 * Returns the error and all of its nested causes. If connections to several addresses failed, the
 * error is an AggregateError.
 */
function causes(error: unknown, depth = 0): readonly Error[] {
  if (!isError(error) || depth > 5) return [];
  const several: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  return [error, ...[error.cause, ...several].flatMap((cause) => causes(cause, depth + 1))];
}
