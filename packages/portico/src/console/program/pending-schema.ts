import { isConfigurationError, pendingSteps } from '@portico/sql';
import type { Application } from '../../application/started-application.ts';
import { describeUnreachable, findConfigurationError } from '../database-problems.ts';

/**
 * Whether a database migration is missing. Returns false if the applied migrations cannot be read.
 * If the reason is that the database server cannot be reached or the database file cannot be used,
 * also calls `warn`. Throws a ConfigurationError for a permanent problem, for example a driver that
 * is too old or a wrong password.
 */
export async function isSchemaPending(
  application: Application,
  warn: (line: string) => void = () => {},
): Promise<boolean> {
  const steps = await application.migrations().catch((error: unknown) => {
    if (isConfigurationError(error)) throw error;
    const refused = findConfigurationError(application, error);
    if (refused !== null) throw refused;
    const unreachable = describeUnreachable(application, error);
    if (unreachable !== null) warn(unreachable);
    return [];
  });
  return pendingSteps(steps).length > 0;
}

/** The error message of a command that needs the database schema, if a migration is missing. */
export const SCHEMA_PENDING =
  'Some database migrations are not applied. Run npx portico db:migrate up';
