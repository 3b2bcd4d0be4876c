import { pendingSteps, type MigrationState } from '@portico/sql';

/** The message about missing migrations. `{steps}` stands for their names. */
export const SCHEMA_PENDING = 'The schema is not applied: {steps}; run npx portico db:migrate up';

/** Returns the names of the missing migrations, separated by commas. Null if there are none. */
export async function findPendingSteps(
  migrations: () => Promise<readonly MigrationState[]>,
): Promise<string | null> {
  const steps = pendingSteps(await migrations());
  return steps.length === 0 ? null : steps.join(', ');
}
