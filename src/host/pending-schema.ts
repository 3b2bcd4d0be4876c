import type { Application } from './contracts.ts';

/** Whether a step of the schema is still to be applied; false when the store cannot be asked. */
export async function isSchemaPending(application: Application): Promise<boolean> {
  const steps = await application.migrations().catch(() => []);
  return steps.some(({ appliedAt }) => appliedAt === null);
}

export const SCHEMA_PENDING = 'The schema is not applied: run npx portico db:migrate up';
