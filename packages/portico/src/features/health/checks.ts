import { pendingSteps } from '@portico/sql';
import { DEFAULT_ALGORITHM, missingKey } from '../../keys/algorithms.ts';
import { KeysLostError } from '../../keys/signing-key.ts';
import type { Server } from '../../server.ts';
import { writeNothing } from '../../store/write-nothing.ts';
import type { HealthCheck, HealthPart } from './health.ts';

/**
 * The checks for a readiness probe. They run a few short database statements and list the files in
 * the key directory.
 */
export function healthChecks({
  database,
  store,
  keys,
  migrations,
}: Server): Readonly<Record<HealthPart, HealthCheck>> {
  let asked: Promise<readonly string[]> | null = null;
  /** Checks that run at the same time share one read. Rejects if the store does not respond. */
  function pending(): Promise<readonly string[]> {
    asked ??= migrations()
      .then((states) => pendingSteps(states))
      .finally(() => (asked = null));
    return asked;
  }

  return {
    async store() {
      // Without tables, do not test a write. The schema check reports missing tables.
      if ((await pending()).length === 0) await writeNothing(database);
      return true;
    },
    async schema() {
      const missing = await pending();
      if (missing.length > 0)
        throw new Error(
          `These migrations are not applied: ${missing.join(', ')}. Run npx portico db:migrate up`,
        );
      return true;
    },
    async key() {
      const published = await keys.published().catch((error: unknown) => {
        // Without a key, the key ring asks the store for authorizations with `openid`. So this
        // error can come from the store.
        if (!(error instanceof KeysLostError) && database.isUnavailable(error)) return null;
        throw error;
      });
      if (published === null) return false;
      if (published.length > 0) return true;
      const isNeeded = await store.clients.hasOpenidClient().catch(() => null);
      if (isNeeded === null) return false;
      if (isNeeded)
        throw new Error(
          `There is ${missingKey(DEFAULT_ALGORITHM).key}, but clients request ID tokens`,
        );
      return true;
    },
  };
}
