import {
  findRemedy,
  getErrorCodes,
  type Meaning,
  type MeaningsOf,
  type Remedies,
  type RemedyOf,
} from '../meaning.ts';
import { isError } from '../is-error.ts';

/** The meanings of SQLSTATE error codes. */
const MEANINGS: ReadonlyMap<unknown, Meaning> = new Map<unknown, Meaning>([
  // The server or the transaction is read-only. The server may be a standby or a former primary.
  ['25006', 'read-only'],
  // A time limit or an administrator stopped the statement. Neither can stop a commit that waits
  // for its standby.
  ['57014', 'unavailable'],
  // The statement waited too long for a lock.
  ['55P03', 'unavailable'],
  // The transaction took too long, or waited too long for its client. The server rolled it back and
  // closed the connection.
  ['25P03', 'unavailable'],
  ['25P04', 'unavailable'],
  // The code statement_completion_unknown, which distributed databases with PostgreSQL's protocol
  // send.
  ['40003', 'unknown'],
  // The statement does not exist, or another statement has its name.
  ['26000', 'name'],
  ['42P05', 'name'],
]);

/**
 * The meanings of classes of SQLSTATEs, in this order:
 * 1. The connection, its server or the operating system failed, perhaps after the commit.
 * 2. The server has too few resources, for example memory.
 * 3. The transaction was rolled back (serialization_failure, deadlock_detected).
 */
const CLASSES: readonly (readonly [RegExp, Meaning])[] = [
  [/^(?:08...|57P..|58...)$/, 'unknown'],
  [/^53...$/, 'unavailable'],
  [/^40...$/, 'conflict'],
];

const MISSING_PRIVILEGE =
  'grant the missing privilege to the user, or use the user that owns the database';
/** Errors for a refused connection: SQLSTATEs, and errors of `pg` that have no code. */
const REFUSALS: Remedies = [
  [/^28P01$/, 'correct the user or the password'],
  [
    /^28...$/,
    'correct the user, or allow it to connect from this machine (LOGIN, and pg_hba.conf)',
  ],
  [/^3D000$/, 'correct the name of the database, or create it (CREATE DATABASE)'],
  // Match the message, because the SQLSTATE 42501 may also be about a statement.
  [/^permission denied for database /, MISSING_PRIVILEGE],
  [/^SASL: .* password must be/, 'add the password, because the server requires one'],
  [/server does not support SSL/, 'enable SSL on the server, or remove sslmode from the URL'],
];
/** The account lacks a privilege, or does not own a table. */
const PRIVILEGES: Remedies = [[/^42501$/, MISSING_PRIVILEGE]];

/** Errors of `pg` that have no code. */
const UNREACHABLE =
  /timeout exceeded when trying to connect|^timeout expired$|Query read timeout|Connection terminated|connection is closed|Client has encountered a connection error|a pool after calling end/i;

export const postgresMeanings: MeaningsOf = (error) => [
  ...getErrorCodes(error).map((code) => MEANINGS.get(code) ?? meaningOfClass(code)),
  endsSession(error) ? 'unknown' : undefined,
  isOutdatedPlan(error) ? 'name' : undefined,
  UNREACHABLE.test(error.message) ? 'unavailable' : undefined,
  findRemedy(REFUSALS, error) === null ? undefined : 'refused',
];

export const postgresRemedy: RemedyOf = (error) => findRemedy([...REFUSALS, ...PRIVILEGES], error);

/**
 * Returns whether the session ended with this error, perhaps after the commit. A pooler that has
 * lost its server also sends such an error, for example Supavisor with the SQLSTATE XX000.
 */
function endsSession(error: Error): boolean {
  return 'severity' in error && (error.severity === 'FATAL' || error.severity === 'PANIC');
}

function meaningOfClass(code: unknown): Meaning | undefined {
  return CLASSES.find(([pattern]) => typeof code === 'string' && pattern.test(code))?.[1];
}

/**
 * Returns whether the statement was planned before the schema changed. The code 0A000 also means
 * that the server does not support a statement. Only the name of the server's function tells the
 * two errors apart. If the name is missing, returns true.
 */
export function isOutdatedPlan(error: unknown): boolean {
  if (!isError(error) || !getErrorCodes(error).includes('0A000')) return false;
  const { routine } = error as { readonly routine?: unknown };
  return routine === undefined || routine === 'RevalidateCachedQuery';
}
