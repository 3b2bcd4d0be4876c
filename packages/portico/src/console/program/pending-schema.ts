import { isConfigurationError, pendingSteps } from '@portico/sql';
import type { Application } from '../../application/started-application.ts';
import { describeUnreachable, findConfigurationError } from '../database-problems.ts';

/**
 * Returns true if a migration is missing, and false if the applied ones cannot be read. Calls
 * `warn` if the database server cannot be reached or the database file cannot be used. Throws a
 * ConfigurationError for a permanent problem, for example an old driver or a wrong password.
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

/** The message of a command that needs the schema, if a migration is missing. */
export const SCHEMA_PENDING =
  'Some database migrations are not applied. Run npx portico db:migrate up';
