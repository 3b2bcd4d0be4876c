import { getErrorCodes, type Meaning, type MeaningsOf } from '../meaning.ts';

/** Error numbers of MariaDB and MySQL, and codes of `mysql2`, with their meanings. */
const MEANINGS: ReadonlyMap<unknown, Meaning> = new Map<unknown, Meaning>([
  // Too many connections: in total, of the account by the server's limit, or by the account's own
  // limit (which may count statements).
  [1040, 'unavailable'],
  [1203, 'unavailable'],
  [1226, 'unavailable'],
  // An administrator stopped the statement.
  [1317, 'unavailable'],
  // Shutdown in progress, shutdown, connection killed. These can also arrive after the statement's
  // commit.
  [1053, 'unknown'],
  [1077, 'unknown'],
  [1927, 'unknown'],
  // MySQL closed a connection that was idle for wait_timeout. The message crossed a statement, and
  // was read as its answer.
  [4031, 'unknown'],
  // The wait for a lock, or for commits of other Galera nodes, took too long. This undoes only the
  // statement.
  [1205, 'unavailable'],
  // MySQL: NOWAIT, and another transaction has the lock.
  [3572, 'unavailable'],
  // A deadlock. In Galera also a write of another node that came first; the commit reports it at
  // the latest.
  [1213, 'conflict'],
  // InnoDB was started read-only. MariaDB reports it for each table, MySQL for the server when the
  // schema is to change.
  [1036, 'read-only'],
  [1836, 'read-only'],
  // MariaDB's max_statement_time; MySQL's max_execution_time, which only ends reads.
  [1969, 'unavailable'],
  [3024, 'unavailable'],
  // Galera: the node has lost its cluster, which may already have what the node sent. Or the commit
  // failed with an error that does not say how it ended.
  [1047, 'unknown'],
  [1180, 'unknown'],

  ['PROTOCOL_CONNECTION_LOST', 'unavailable'],
  ['POOL_CLOSED', 'unavailable'],
  ['PROTOCOL_SEQUENCE_TIMEOUT', 'unavailable'],
]);

/** A server option forbids it. This may be another option than the one for read-only. */
const FORBIDDEN_BY_OPTION = 1290;
/**
 * MySQL: the table could not be locked. The number of the reason follows; 165 means that the table
 * is read-only.
 */
const CANNOT_LOCK = 1015;

/** Errors of `mysql2` without a code. */
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
