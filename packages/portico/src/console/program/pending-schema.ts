import { isConfigurationError, pendingSteps } from '@portico/sql';
import type { Application } from '../../application/contracts.ts';

/**
 * Whether a step of the schema is missing; false if the store cannot be asked. Throws a
 * ConfigurationError for a permanent problem, such as a driver that is too old.
 */
export async function isSchemaPending(application: Application): Promise<boolean> {
  const steps = await application.migrations().catch((error: unknown) => {
    if (isConfigurationError(error)) throw error;
    return [];
  });
  return pendingSteps(steps).length > 0;
}

/** The message of a command that needs the schema. */
export const SCHEMA_PENDING = 'The schema is not applied: run npx portico db:migrate up';
