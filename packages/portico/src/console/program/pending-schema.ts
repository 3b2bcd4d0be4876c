import { isConfigurationError, pendingSteps } from '@portico/sql';
import type { Application } from '../../application/started-application.ts';

/**
 * Whether a migration is missing. Returns false if the store does not respond. Throws a
 * ConfigurationError for a permanent problem, for example a driver that is too old.
 */
export async function isSchemaPending(application: Application): Promise<boolean> {
  const steps = await application.migrations().catch((error: unknown) => {
    if (isConfigurationError(error)) throw error;
    return [];
  });
  return pendingSteps(steps).length > 0;
}

/** The error message if a command needs the schema. */
export const SCHEMA_PENDING = 'The schema is not applied. Run npx portico db:migrate up';
