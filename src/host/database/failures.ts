import { isSqliteConflict, isSqliteUnavailable } from './sqlite/failures.ts';

/**
 * What an error says of the statement or the commit that it ended. Whatever is not in the table is the statement's own fault: it did
 * nothing, and would do nothing the next time.
 */
type Meaning =
  /** It did nothing. The same may succeed later, or on another connection. */
  | 'unavailable'
  /** It did nothing: the server may only be read from, as one that another took over from. */
  | 'read-only'
  /** A conflict with others undid it, and all of its transaction: it can be done again. */
  | 'conflict'
  /** The name of a prepared statement was wrong. It did nothing; run again, it has another name, or none. */
  | 'name'
  /** Nobody knows whether it took effect. */
  | 'unknown';

/** Codes of servers, SQLSTATE of PostgreSQL and numbers of MariaDB and MySQL, with what each means. */
const MEANINGS: ReadonlyMap<unknown, Meaning> = new Map<unknown, Meaning>([
  // PostgreSQL: a standby, or a primary that was told that another one took over.
  ['25006', 'read-only'],
  // A limit of time ended the statement, or an administrator did. It ends no commit that waits for its standby.
  ['57014', 'unavailable'],
  // A limit of time ended the wait for a lock.
  ['55P03', 'unavailable'],
  // The transaction waited for its client, or took, too long; it is undone, and the connection ended.
  ['25P03', 'unavailable'],
  ['25P04', 'unavailable'],
  // What servers of several nodes that speak like PostgreSQL answer (statement_completion_unknown).
  ['40003', 'unknown'],
  // The plan is outdated; the statement is not there, or another one is.
  ['0A000', 'name'],
  ['26000', 'name'],
  ['42P05', 'name'],

  // MariaDB, MySQL: too many connections, of all, of an account by the server's limit, by the account's own (or of its statements).
  [1040, 'unavailable'],
  [1203, 'unavailable'],
  [1226, 'unavailable'],
  // An administrator ended the statement.
  [1317, 'unavailable'],
  // Shutdown in progress, shutdown, connection killed: also said after the statement's commit.
  [1053, 'unknown'],
  [1077, 'unknown'],
  [1927, 'unknown'],
  // MySQL's farewell to a connection that nobody has used for its wait_timeout, read as the answer to a statement that crossed it.
  [4031, 'unknown'],
  // The wait for a lock, or for what other nodes of Galera have committed, took too long. It undoes the statement alone.
  [1205, 'unavailable'],
  // MySQL: NOWAIT, and somebody else has the lock.
  [3572, 'unavailable'],
  // A deadlock; in Galera also another node's write that was first, told with the commit at the latest.
  [1213, 'conflict'],
  // InnoDB was started to be read from: MariaDB says so of each table, MySQL of the server when the schema is to change.
  [1036, 'read-only'],
  [1836, 'read-only'],
  // MariaDB's max_statement_time; max_execution_time of MySQL, which ends reads alone.
  [1969, 'unavailable'],
  [3024, 'unavailable'],
  // Galera: the node has lost its cluster, which may have what it sent before; or the commit failed, in a way that tells nothing.
  [1047, 'unknown'],
  [1180, 'unknown'],
]);

/**
 * PostgreSQL's classes: the connection, the server that ends it, or the system below it failed, perhaps after the commit; resources are
 * short; the transaction was rolled back (serialization_failure, deadlock_detected).
 */
const CLASSES: readonly (readonly [RegExp, Meaning])[] = [
  [/^(?:08...|57P..|58...)$/, 'unknown'],
  [/^53...$/, 'unavailable'],
  [/^40...$/, 'conflict'],
];

/** MariaDB, MySQL: an option of the server forbids it, which need not be the one that makes it read-only. */
const FORBIDDEN_BY_OPTION = 1290;
/** MySQL: the table could not be locked, for the reason whose number follows; that of one that may only be read from is 165. */
const CANNOT_LOCK = 1015;

function meanings(error: Error): readonly (Meaning | undefined)[] {
  return codes(error).map((code) => {
    if (code === FORBIDDEN_BY_OPTION) return /read[-_]only/i.test(error.message) ? 'read-only' : undefined;
    if (code === CANNOT_LOCK) return /\b165\b/.test(error.message) ? 'read-only' : undefined;
    const ofClass = () => CLASSES.find(([pattern]) => typeof code === 'string' && pattern.test(code))?.[1];
    return MEANINGS.get(code) ?? ofClass();
  });
}

const means = (error: unknown, meaning: Meaning): error is Error =>
  error instanceof Error && meanings(error).includes(meaning);

/** Whether the store cannot be reached, is too busy, or may only be read from: the same may succeed later, or elsewhere. */
export function isUnavailable(error: unknown): boolean {
  return causes(error).some(saysUnavailable);
}

/** Whether a conflict with others undid everything, so that it can be done again. */
export function isWorthRetrying(error: unknown): boolean {
  return causes(error).some(
    (cause) => isAboutName(cause) || means(cause, 'conflict') || isSqliteConflict(cause),
  );
}

/** Whether the server answers that nobody knows whether what it was sent took effect. */
export function isUnknown(error: unknown): boolean {
  return means(error, 'unknown');
}

/** Whether the server may only be read from. */
export function isReadOnly(error: unknown): boolean {
  return means(error, 'read-only');
}

/** PostgreSQL: the name of a prepared statement was wrong, and nothing was done. Run again, it has another name, or none. */
export function isAboutName(error: unknown): boolean {
  return means(error, 'name');
}

/** PostgreSQL: the statement was planned for a schema that has changed since. */
export function isOutdatedPlan(error: unknown): boolean {
  return error instanceof Error && codes(error).includes('0A000');
}

const CONFLICTS = 'PORTICO_CONFLICTS';
const NO_CONNECTION = 'PORTICO_NO_CONNECTION';
const FOREIGN_TRANSACTION = 'PORTICO_FOREIGN_TRANSACTION';
const ROLLED_BACK = 'PORTICO_ROLLED_BACK';

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

/** PostgreSQL does that after a failed statement whose error the work has swallowed, and says so in place of the commit. */
export function rolledBack(): Error {
  const message = 'The transaction was rolled back: a statement had failed';
  return Object.assign(new Error(message), { code: ROLLED_BACK });
}

/** Whether it was found here, from what the server answered, that nothing took effect. */
export function isFoundUndone(error: unknown): boolean {
  return error instanceof Error && codes(error).some((code) => FOUND_UNDONE.has(code));
}
const FOUND_UNDONE: ReadonlySet<unknown> = new Set([FOREIGN_TRANSACTION, ROLLED_BACK]);

/** Codes of this folder, of Node and of the drivers. */
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
  'PROTOCOL_CONNECTION_LOST',
  'POOL_CLOSED',
  'PROTOCOL_SEQUENCE_TIMEOUT',
]);
const UNAVAILABLE: ReadonlySet<Meaning | undefined> = new Set(['unavailable', 'read-only', 'unknown']);
/** Errors of `pg` and `mysql2` that have no code. */
const UNREACHABLE_MESSAGES =
  /timeout exceeded when trying to connect|^timeout expired$|Query read timeout|Connection terminated|connection is closed|Client has encountered a connection error|in closed state|Queue limit reached|No connections available|Pool is closed|a pool after calling end/i;

function saysUnavailable(error: Error): boolean {
  return (
    isSqliteUnavailable(error) ||
    UNREACHABLE_MESSAGES.test(error.message) ||
    codes(error).some((code) => UNREACHABLE.has(code)) ||
    meanings(error).some((meaning) => UNAVAILABLE.has(meaning))
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
