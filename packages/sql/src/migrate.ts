import type { BegunStep, Migration } from './schema.ts';
import { migrate as migrateStore } from './migrations.ts';
import type { OpenedDatabase } from '../../portico/src/application/contracts.ts';

/** Applies what is missing, as `migrate` of `portico/oauth-server`, without the time limits: a change of the schema may take long. */
export function migrate(
  database: OpenedDatabase,
  migrations: readonly Migration[],
  onStep?: (step: BegunStep) => void,
): Promise<readonly string[]> {
  return migrateStore(database.withoutTimeout(), migrations, onStep);
}
