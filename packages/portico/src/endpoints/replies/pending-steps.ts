import { pendingSteps, type MigrationState } from '@portico/sql';

/** Returns a message that names the missing migrations and tells how to apply them. */
export function describePendingSteps(steps: string): string {
  return `Some database migrations are not applied: ${steps}; run npx portico db:migrate up`;
}

/**
 * Returns the names of the missing migrations, separated by commas. Returns null if no migration is
 * missing.
 */
export async function findPendingSteps(
  migrations: () => Promise<readonly MigrationState[]>,
): Promise<string | null> {
  const steps = pendingSteps(await migrations());
  return steps.length === 0 ? null : steps.join(', ');
}
