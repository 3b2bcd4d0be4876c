import {
  ConfigurationError,
  describeCause,
  getDialect,
  isUnreachable,
  type Database,
} from '@portico/sql';

/** `pool` contains the limits of connections that Portico opens from `database_url`. */
interface Connected {
  readonly database: Pick<Database, 'dialect'>;
  readonly pool?: object | null;
}

interface Refusal {
  readonly key: 'database' | 'database_url';
  readonly message: string;
  readonly remedy: string;
}

/**
 * Returns what the operator must correct if the database server refuses the user, the password, the
 * database or a privilege. Returns null for other errors.
 */
export function findRefusal({ database, pool = null }: Connected, error: unknown): Refusal | null {
  if (!(error instanceof Error)) return null;
  const remedy = getDialect(database).remedy(error);
  if (remedy === null) return null;
  const reason = error.message.replace(/\.$/, '');
  return pool === null
    ? { key: 'database', message: `does not work: ${reason}`, remedy }
    : {
        key: 'database_url',
        message: `does not work (its value comes from DATABASE_URL): ${reason}`,
        remedy,
      };
}

/** Like `findRefusal`, but returns a ConfigurationError. */
export function findConfigurationError(
  connected: Connected,
  error: unknown,
): ConfigurationError | null {
  const refusal = findRefusal(connected, error);
  if (refusal === null) return null;
  const { key, message, remedy } = refusal;
  return new ConfigurationError([{ key, message: `${message}; ${remedy}` }]);
}

/**
 * Describes a database server that cannot be reached, or a database file that cannot be used.
 * Returns null for other errors.
 */
export function describeUnreachable(connected: Connected, error: unknown): string | null {
  const { pool = null } = connected;
  const aboutFile = describeFileProblem(connected, error);
  if (aboutFile !== null) return aboutFile;
  if (!(error instanceof Error) || !isUnreachable(error)) return null;
  const address =
    pool === null ? "the address in the application's pool" : 'database_url (DATABASE_URL)';
  return (
    `The database cannot be reached: ${describeCause(error)}. Start the database server, or ` +
    `correct ${address}`
  );
}

/**
 * Describes a database file that cannot be opened, read or written. Returns null for other errors.
 */
export function describeFileProblem({ database }: Connected, error: unknown): string | null {
  if (!(error instanceof Error) || !getDialect(database).isAboutFile(error)) return null;
  return (
    `The database file cannot be used: ${error.message}. Check the path in database_url ` +
    '(DATABASE_URL), whether this user may write the file and its folder, and the free disk space'
  );
}
