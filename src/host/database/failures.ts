import { isSqliteConflict, isSqliteUnavailable } from './sqlite/failures.ts';

/** Whether the store cannot be reached, is too busy, or may only be read from: the same may succeed later, or elsewhere. */
export function isUnavailable(error: unknown): boolean {
  return causes(error).some(saysUnavailable);
}

/** Whether a conflict with others undid everything, so that it can be done again. */
export function isWorthRetrying(error: unknown): boolean {
  return causes(error).some(
    (cause) =>
      isAboutName(cause) || isSqliteConflict(cause) || codes(cause).some((code) => WORTH_RETRYING.has(code)),
  );
}

/** PostgreSQL: the name of a prepared statement was wrong, and nothing was done. Run again, it has another name, or none. */
export function isAboutName(error: unknown): boolean {
  return error instanceof Error && codes(error).some((code) => ABOUT_NAMES.has(code));
}

/** PostgreSQL: the statement was planned for a schema that has changed since. */
export function isOutdatedPlan(error: unknown): boolean {
  return error instanceof Error && codes(error).includes('0A000');
}

const ABOUT_NAMES: ReadonlySet<unknown> = new Set(['0A000', '26000', '42P05']);

/** PostgreSQL: serialization_failure, deadlock_detected; MySQL: deadlock, lock wait timeout. */
const WORTH_RETRYING: ReadonlySet<unknown> = new Set(['40001', '40P01', 1213, 1205]);

const CONFLICTS = 'PORTICO_CONFLICTS';
const NO_CONNECTION = 'PORTICO_NO_CONNECTION';
const FOREIGN_TRANSACTION = 'PORTICO_FOREIGN_TRANSACTION';

/** Others were quicker again and again. */
export function tooManyConflicts(cause: unknown): Error {
  const message = `Others changed the same again and again: ${cause instanceof Error ? cause.message : String(cause)}`;
  return Object.assign(new Error(message, { cause }), { code: CONFLICTS });
}

/** No connection could be had in time. */
export function noConnection(message: string): Error {
  return Object.assign(new Error(message), { code: NO_CONNECTION });
}

/** What ran on the connection is not committed, since it was in a transaction of somebody else; given up, it never will be. */
export function foreignTransaction(): Error {
  const message = 'The connection was in a transaction that the application left open';
  return Object.assign(new Error(message), { code: FOREIGN_TRANSACTION });
}

export function isForeignTransaction(error: unknown): boolean {
  return error instanceof Error && codes(error).includes(FOREIGN_TRANSACTION);
}

const UNREACHABLE: ReadonlySet<unknown> = new Set([
  CONFLICTS,
  NO_CONNECTION,
  FOREIGN_TRANSACTION,
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'PROTOCOL_CONNECTION_LOST',
  'POOL_CLOSED',
  'PROTOCOL_SEQUENCE_TIMEOUT',
  // MySQL: too many connections, shutdown in progress, server gone.
  1040,
  1053,
  1077,
  1927,
  // MySQL: InnoDB may only be read from; Galera: this node is not part of its cluster.
  1836,
  1047,
  // MariaDB, MySQL: a time limit of the session or the server ended the statement.
  1969,
  3024,
  // PostgreSQL: a standby, or a primary that another one took over from.
  '25006',
  // PostgreSQL: a time limit of the session or the server ended the statement, the wait for a lock, or the transaction.
  '57014',
  '55P03',
  '25P03',
  '25P04',
  // What distributed engines answer when they do not know whether they have committed (statement_completion_unknown).
  '40003',
]);
/** MySQL: an option of the server forbids it, which need not be the one that makes it read-only. */
const FORBIDDEN_BY_OPTION = 1290;
/** PostgreSQL's classes: connection exception, insufficient resources, operator intervention. */
const UNREACHABLE_CLASSES = /^(?:08|53|57P)/;
/** Errors of `pg` and `mysql2` that have no code. */
const UNREACHABLE_MESSAGES =
  /timeout exceeded when trying to connect|Query read timeout|Connection terminated|connection is closed|Client has encountered a connection error|in closed state|Queue limit reached|No connections available|Pool is closed|a pool after calling end/i;

function saysUnavailable(error: Error): boolean {
  if (isSqliteUnavailable(error) || UNREACHABLE_MESSAGES.test(error.message)) return true;
  return codes(error).some(
    (code) =>
      UNREACHABLE.has(code) ||
      (code === FORBIDDEN_BY_OPTION && /read[-_]only/i.test(error.message)) ||
      (typeof code === 'string' && UNREACHABLE_CLASSES.test(code)),
  );
}

function codes(error: Error): readonly unknown[] {
  return [...('code' in error ? [error.code] : []), ...('errno' in error ? [error.errno] : [])];
}

/** The error, what caused it, and what caused that; a failed connection to several addresses is an AggregateError. */
function causes(error: unknown, depth = 0): readonly Error[] {
  if (!(error instanceof Error) || depth > 5) return [];
  const several: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  return [error, ...[error.cause, ...several].flatMap((cause) => causes(cause, depth + 1))];
}
