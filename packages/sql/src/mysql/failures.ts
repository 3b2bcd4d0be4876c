import { getErrorCodes, type Meaning, type MeaningsOf } from '../meaning.ts';

/** MariaDB and MySQL error numbers and `mysql2` error codes, with their meanings. */
const MEANINGS: ReadonlyMap<unknown, Meaning> = new Map<unknown, Meaning>([
  // Too many connections: in total, for the account by the server's limit, or by the account's own
  // limit (which may count statements).
  [1040, 'unavailable'],
  [1203, 'unavailable'],
  [1226, 'unavailable'],
  // An administrator stopped the statement.
  [1317, 'unavailable'],
  // Shutdown in progress, shutdown, connection killed. The server can also send these after the
  // statement's commit.
  [1053, 'unknown'],
  [1077, 'unknown'],
  [1927, 'unknown'],
  // MySQL closed a connection that was idle for wait_timeout. A statement was sent at the same
  // time, and the message was read as its answer.
  [4031, 'unknown'],
  // The wait for a lock, or for other Galera nodes' commits, took too long. This rolls back only
  // the statement.
  [1205, 'unavailable'],
  // MySQL: NOWAIT, and another transaction has the lock.
  [3572, 'unavailable'],
  // A deadlock. In Galera, also an earlier write on another node. It is reported during the
  // transaction or at the commit.
  [1213, 'conflict'],
  // InnoDB was started read-only. MariaDB reports this for each table. MySQL reports it for the
  // server when a statement changes the schema.
  [1036, 'read-only'],
  [1836, 'read-only'],
  // MariaDB's max_statement_time, and MySQL's max_execution_time, which only ends reads.
  [1969, 'unavailable'],
  [3024, 'unavailable'],
  // Galera: the node has lost its cluster, which may already have received the node's write. Or the
  // commit failed with an error that does not tell its outcome.
  [1047, 'unknown'],
  [1180, 'unknown'],

  ['PROTOCOL_CONNECTION_LOST', 'unavailable'],
  ['POOL_CLOSED', 'unavailable'],
  ['PROTOCOL_SEQUENCE_TIMEOUT', 'unavailable'],
]);

/** A server option forbids it. This may be the read-only option or another one. */
const FORBIDDEN_BY_OPTION = 1290;
/**
 * MySQL: the table could not be locked. The message contains the reason's number. 165 means that
 * the table is read-only.
 */
const CANNOT_LOCK = 1015;

/** `mysql2` errors without a code. */
const UNREACHABLE =
  /connection is closed|in closed state|Queue limit reached|No connections available|Pool is closed/i;

export const mysqlMeanings: MeaningsOf = (error) => [
  ...getErrorCodes(error).map((code) => findMeaning(code, error.message)),
  UNREACHABLE.test(error.message) ? 'unavailable' : undefined,
];

function findMeaning(code: unknown, message: string): Meaning | undefined {
  if (code === FORBIDDEN_BY_OPTION) return /read[-_]only/i.test(message) ? 'read-only' : undefined;
  if (code === CANNOT_LOCK) return /\b165\b/.test(message) ? 'read-only' : undefined;
  return MEANINGS.get(code);
}
