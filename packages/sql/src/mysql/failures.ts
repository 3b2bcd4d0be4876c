import { getErrorCodes, type Meaning, type MeaningsOf } from '../meaning.ts';

/** The meanings of MariaDB's and MySQL's error numbers and of error codes from `mysql2`. */
const MEANINGS: ReadonlyMap<unknown, Meaning> = new Map<unknown, Meaning>([
  // 1040: too many connections on the server. 1203: too many connections of this account. 1226: the
  // account has reached one of its limits, for example for connections or statements.
  [1040, 'unavailable'],
  [1203, 'unavailable'],
  [1226, 'unavailable'],
  // The server accepts no connections from this machine after too many failed connections.
  [1129, 'unavailable'],
  // The disk is full: for a temporary file, or for a table.
  [1021, 'unavailable'],
  [1114, 'unavailable'],
  // The server has no memory, threads, locks or transactions left.
  [1041, 'unavailable'],
  [1135, 'unavailable'],
  [1206, 'unavailable'],
  [1637, 'unavailable'],
  // An administrator or a failover took MySQL offline.
  [3032, 'unavailable'],
  // An administrator stopped the statement.
  [1317, 'unavailable'],
  // The server is shutting down, or the connection was killed. This can happen even after the
  // statement's commit.
  [1053, 'unknown'],
  [1077, 'unknown'],
  [1927, 'unknown'],
  // MySQL closed an idle connection (wait_timeout) just when Portico sent a statement. The driver
  // took the closing message for the statement's answer.
  [4031, 'unknown'],
  // The wait for a lock, or for the commits of other Galera nodes, took too long. Only the
  // statement is rolled back.
  [1205, 'unavailable'],
  // On MySQL, a statement with NOWAIT found that another transaction has the lock.
  [3572, 'unavailable'],
  // A deadlock or, on Galera, an earlier write on another node. Occurs during the transaction or at
  // the commit.
  [1213, 'conflict'],
  // On MySQL's group replication, another member's earlier write won at the commit.
  [3101, 'conflict'],
  // InnoDB was started read-only. MariaDB reports this for each table. MySQL reports this for the
  // server when a statement changes the schema.
  [1036, 'read-only'],
  [1836, 'read-only'],
  // New transactions may only read (tx_read_only on MariaDB, transaction_read_only on MySQL).
  [1792, 'read-only'],
  // The statement exceeded MariaDB's max_statement_time or MySQL's max_execution_time, which
  // applies only to reads.
  [1969, 'unavailable'],
  [3024, 'unavailable'],
  // On Galera: the node has lost its cluster, which may already have received the node's write, or
  // the commit failed with an error that does not show the outcome.
  [1047, 'unknown'],
  [1180, 'unknown'],
  // On MySQL's group replication, a commit failed while its member waited for the group, which may
  // already have received the write.
  [3100, 'unknown'],

  // The driver replaces the code of every error in a TLS handshake with this code.
  ['HANDSHAKE_SSL_ERROR', 'unavailable'],
  ['PROTOCOL_CONNECTION_LOST', 'unavailable'],
  ['POOL_CLOSED', 'unavailable'],
  ['PROTOCOL_SEQUENCE_TIMEOUT', 'unavailable'],
]);

/** A server option forbids the statement. It may be the read-only option or another option. */
const FORBIDDEN_BY_OPTION = 1290;
/**
 * On MySQL, the table could not be locked. The message contains the number of the reason: 165 means
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
