import { getErrorCodes, type Meaning, type MeaningsOf } from '../meaning.ts';

/** What the error numbers of MariaDB and MySQL and the error codes of `mysql2` mean. */
const MEANINGS: ReadonlyMap<unknown, Meaning> = new Map<unknown, Meaning>([
  // The server has too many connections: in total (1040), or for this account (1203). 1226 means
  // that the account has reached a limit that is set for it. It may also be a limit of statements.
  [1040, 'unavailable'],
  [1203, 'unavailable'],
  [1226, 'unavailable'],
  // An administrator stopped the statement.
  [1317, 'unavailable'],
  // The server is shutting down, or the connection was killed. The server can send these errors
  // even after the statement's commit.
  [1053, 'unknown'],
  [1077, 'unknown'],
  [1927, 'unknown'],
  // MySQL closed a connection that was idle for wait_timeout, while Portico sent a statement. So
  // the driver read the closing message as the statement's answer.
  [4031, 'unknown'],
  // The wait for a lock, or for the commits of other Galera nodes, took too long. Only the
  // statement is rolled back.
  [1205, 'unavailable'],
  // On MySQL, a statement with NOWAIT found that another transaction has the lock.
  [3572, 'unavailable'],
  // There was a deadlock. On Galera, there can also be an earlier write on another node. The error
  // occurs during the transaction or at the commit.
  [1213, 'conflict'],
  // InnoDB was started as read-only. MariaDB reports this for each table. MySQL reports it for the
  // server, if a statement changes the schema.
  [1036, 'read-only'],
  [1836, 'read-only'],
  // MariaDB's max_statement_time was exceeded, or MySQL's max_execution_time, which ends only
  // reads.
  [1969, 'unavailable'],
  [3024, 'unavailable'],
  // On Galera, either the node has lost its cluster, which may already have received the node's
  // write. Or the commit failed with an error that does not show the outcome.
  [1047, 'unknown'],
  [1180, 'unknown'],

  ['PROTOCOL_CONNECTION_LOST', 'unavailable'],
  ['POOL_CLOSED', 'unavailable'],
  ['PROTOCOL_SEQUENCE_TIMEOUT', 'unavailable'],
]);

/** A server option forbids the statement. It may be the read-only option or another option. */
const FORBIDDEN_BY_OPTION = 1290;
/**
 * On MySQL, the table could not be locked. The message contains the number of the reason. 165 means
 * that the table is read-only.
 */
const CANNOT_LOCK = 1015;

/** Errors of `mysql2` that have no code. */
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
