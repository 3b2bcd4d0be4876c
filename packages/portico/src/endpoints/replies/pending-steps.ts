import { pendingSteps, type MigrationState } from '@portico/sql';

export function describePendingSteps(steps: string): string {
  return `Some database migrations are not applied: ${steps}; run npx portico db:migrate up`;
}

/** Returns the names of the missing migrations, separated by commas, or null. */
export async function findPendingSteps(
  migrations: () => Promise<readonly MigrationState[]>,
): Promise<string | null> {
  const steps = pendingSteps(await migrations());
  return steps.length === 0 ? null : steps.join(', ');
}
