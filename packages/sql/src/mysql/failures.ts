import {
  findRemedy,
  getErrorCodes,
  type Meaning,
  type MeaningsOf,
  type Remedies,
  type RemedyOf,
} from '../meaning.ts';

/** The meanings of the error numbers of MariaDB and MySQL, and of `mysql2`'s error codes. */
const MEANINGS: ReadonlyMap<unknown, Meaning> = new Map<unknown, Meaning>([
  // 1040: the server has too many connections. 1203: this account has too many connections. 1226:
  // the account has reached one of its limits, for example for connections or statements.
  [1040, 'unavailable'],
  [1203, 'unavailable'],
  [1226, 'unavailable'],
  // Too many connections from this machine have failed, so the server accepts no more.
  [1129, 'unavailable'],
  // The disk is full for a temporary file (1021) or for a table (1114).
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
  // MySQL closed an idle connection (wait_timeout) while Portico sent a statement. The driver read
  // the closing message as the response to the statement.
  [4031, 'unknown'],
  // The statement waited too long for a lock, or for the commits of other Galera nodes. Only the
  // statement is rolled back.
  [1205, 'unavailable'],
  // On MySQL, another transaction has the lock that a statement with NOWAIT needs.
  [3572, 'unavailable'],
  // A deadlock or, on Galera, an earlier write on another node. This happens during the transaction
  // or at the commit.
  [1213, 'conflict'],
  // On MySQL's group replication, another member's earlier write won at the commit.
  [3101, 'conflict'],
  // InnoDB was started read-only. MariaDB reports this for each table. MySQL reports it when a
  // statement changes the schema.
  [1036, 'read-only'],
  [1836, 'read-only'],
  // New transactions may only read (tx_read_only on MariaDB, transaction_read_only on MySQL).
  [1792, 'read-only'],
  // The statement exceeded MariaDB's max_statement_time, or MySQL's max_execution_time, which
  // limits only reads.
  [1969, 'unavailable'],
  [3024, 'unavailable'],
  // On Galera: the node has lost its cluster, which may already have received the write. Or the
  // commit failed with an error that does not show the outcome.
  [1047, 'unknown'],
  [1180, 'unknown'],
  // On MySQL's group replication: a commit failed while the server waited for its group, which may
  // already have received the write.
  [3100, 'unknown'],
  // A proxy, for example ProxySQL, has lost its connection to the server or cannot connect to it.
  // The proxy sends the error as a response, so the connection to the proxy stays open.
  [2002, 'unknown'],
  [2003, 'unknown'],
  [2006, 'unknown'],
  [2013, 'unknown'],
  // ProxySQL found no server for the statement. It may have sent the statement to a server before.
  [9001, 'unknown'],

  // The driver replaces the code of every error during a TLS handshake with this code.
  ['HANDSHAKE_SSL_ERROR', 'unavailable'],
  ['PROTOCOL_CONNECTION_LOST', 'unavailable'],
  ['POOL_CLOSED', 'unavailable'],
  ['PROTOCOL_SEQUENCE_TIMEOUT', 'unavailable'],
]);

/**
 * Errors for a refused connection. An account is valid only for certain hosts, so a server may
 * refuse even the correct password. 1698 means that, on MariaDB, the account connects only through
 * the socket, without a password.
 */
const REFUSALS: Remedies = [
  [
    /^(?:1045|1698)$/,
    'correct the user or the password, or allow the account to connect from this machine',
  ],
  [/^1130$/, 'allow the account to connect from this machine (CREATE USER user@host)'],
  [/^1044$/, 'correct the name of the database, or grant the account its privileges'],
  [/^1046$/, 'add the name of the database to the URL'],
  [/^1049$/, 'correct the name of the database, or create it (CREATE DATABASE)'],
  // The error number is 3118 in MySQL and 4151 in MariaDB.
  [/^(?:3118|4151)$/, 'unlock the account (ALTER USER … ACCOUNT UNLOCK)'],
  [/^(?:1820|1862)$/, 'give the account a new password (ALTER USER … IDENTIFIED BY …)'],
  [/^HANDSHAKE_NO_SSL_SUPPORT$/, 'enable TLS on the server, or remove ssl from the URL'],
];
/** The account lacks a privilege for a table or a column. */
const PRIVILEGES: Remedies = [
  [
    /^114[23]$/,
    'grant the missing privilege to the account (GRANT … ON database.*), or use another account',
  ],
];

/** An option of the server forbids the statement. It can be the read-only option or another one. */
const FORBIDDEN_BY_OPTION = 1290;
/**
 * MySQL could not lock the table. The message contains the reason as a number: 165 means that the
 * table is read-only.
 */
const CANNOT_LOCK = 1015;

/** Errors of `mysql2` that have no code. */
const UNREACHABLE =
  /connection is closed|in closed state|Queue limit reached|No connections available|Pool is closed/i;

export const mysqlMeanings: MeaningsOf = (error) => [
  ...getErrorCodes(error).map((code) => findMeaning(code, error.message)),
  UNREACHABLE.test(error.message) ? 'unavailable' : undefined,
  findRemedy(REFUSALS, error) === null ? undefined : 'refused',
];

export const mysqlRemedy: RemedyOf = (error) => findRemedy([...REFUSALS, ...PRIVILEGES], error);

function findMeaning(code: unknown, message: string): Meaning | undefined {
  if (code === FORBIDDEN_BY_OPTION) return /read[-_]only/i.test(message) ? 'read-only' : undefined;
  if (code === CANNOT_LOCK) return /\b165\b/.test(message) ? 'read-only' : undefined;
  return MEANINGS.get(code);
}
