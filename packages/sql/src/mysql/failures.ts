import { codesOf, type Meaning, type MeaningsOf } from '../meaning.ts';

/** Numbers of MariaDB and MySQL, and codes of `mysql2`, with what each means. */
const MEANINGS: ReadonlyMap<unknown, Meaning> = new Map<unknown, Meaning>([
  // Too many connections, of all, of an account by the server's limit, by the account's own (or of its statements).
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

  ['PROTOCOL_CONNECTION_LOST', 'unavailable'],
  ['POOL_CLOSED', 'unavailable'],
  ['PROTOCOL_SEQUENCE_TIMEOUT', 'unavailable'],
]);

/** An option of the server forbids it, which need not be the one that makes it read-only. */
const FORBIDDEN_BY_OPTION = 1290;
/** MySQL: the table could not be locked, for the reason whose number follows; that of one that may only be read from is 165. */
const CANNOT_LOCK = 1015;

/** Errors of `mysql2` that have no code. */
const UNREACHABLE =
  /connection is closed|in closed state|Queue limit reached|No connections available|Pool is closed/i;

export const mysqlMeanings: MeaningsOf = (error) => [
  ...codesOf(error).map((code) => meaningOf(code, error.message)),
  UNREACHABLE.test(error.message) ? 'unavailable' : undefined,
];

function meaningOf(code: unknown, message: string): Meaning | undefined {
  if (code === FORBIDDEN_BY_OPTION) return /read[-_]only/i.test(message) ? 'read-only' : undefined;
  if (code === CANNOT_LOCK) return /\b165\b/.test(message) ? 'read-only' : undefined;
  return MEANINGS.get(code);
}
