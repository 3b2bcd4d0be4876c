import { pendingSteps } from '../../sql/migrations.ts';
import type { Application } from '../contracts.ts';

/** Whether a step of the schema is still to be applied; false when the store cannot be asked. */
export async function isSchemaPending(application: Application): Promise<boolean> {
  return pendingSteps(await application.migrations().catch(() => [])).length > 0;
}

export const SCHEMA_PENDING = 'The schema is not applied: run npx portico db:migrate up';
