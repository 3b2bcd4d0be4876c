import { isConfigurationError, pendingSteps } from '@portico/sql';
import type { Application } from '../../application/started-application.ts';

/**
 * Whether a migration has not been applied. Returns false if the store does not respond. Throws a
 * ConfigurationError for a permanent problem, for example a driver that is too old.
 */
export async function isSchemaPending(application: Application): Promise<boolean> {
  const steps = await application.migrations().catch((error: unknown) => {
    if (isConfigurationError(error)) throw error;
    return [];
  });
  return pendingSteps(steps).length > 0;
}

/** The message for a command that requires the schema. */
export const SCHEMA_PENDING = 'The schema is not applied. Run npx portico db:migrate up';
