import { isConfigurationError, pendingSteps } from '@portico/sql';
import type { Application } from '../../application/contracts.ts';

/**
 * Whether a step of the schema is still to be applied; false when the store cannot be asked. Throws a ConfigurationError where that will
 * not pass, as of a driver that is too old.
 */
export async function isSchemaPending(application: Application): Promise<boolean> {
  const steps = await application.migrations().catch((error: unknown) => {
    if (isConfigurationError(error)) throw error;
    return [];
  });
  return pendingSteps(steps).length > 0;
}

/** What a command says that needs the schema. */
export const SCHEMA_PENDING = 'The schema is not applied: run npx portico db:migrate up';
