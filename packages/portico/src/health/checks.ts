import {
  BEGUN,
  type Database,
  dialectOf,
  MIGRATIONS_TABLE,
  type MigrationState,
  pendingSteps,
} from '@portico/sql';
import { DEFAULT_ALGORITHM, missingKey } from '../keys/algorithms.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { HealthOptions } from './health.ts';

export interface HealthCheckOptions {
  readonly database: Database;
  readonly keys: Pick<KeyRing, 'published'>;
  /** Whether a client may ask for an ID token: then a key is needed. */
  readonly needsKey: () => Promise<boolean>;
  /** The steps of the schema. */
  readonly migrations: () => Promise<readonly MigrationState[]>;
}

/** A write that finds no row: a server refuses it that may only be read from. */
const WRITE_NOTHING = "UPDATE oauth_clients SET client_id = client_id WHERE client_id = ''";

type WrittenStore = Pick<Database, 'dialect' | 'execute'> & Partial<Pick<Database, 'transaction'>>;

/**
 * Rejects where the store cannot be written to; its own tables have to be there. Of an embedded engine only a write tells that its disk is
 * full, so a page is committed: with a row that is gone again. A server answers for its disk itself, and would have to wait for its standbys.
 */
export function writeNothing(database: WrittenStore): Promise<unknown> {
  if (!dialectOf(database).isEmbedded || database.transaction === undefined)
    return database.execute(WRITE_NOTHING);
  return database.transaction(async (connection) => {
    await connection.execute(`INSERT INTO ${MIGRATIONS_TABLE} (name, applied_at) VALUES ('', ${BEGUN})`);
    await connection.execute(`DELETE FROM ${MIGRATIONS_TABLE} WHERE name = ''`);
  });
}

/** What is looked at for a probe: three statements, and a listing of the key directory. */
export function healthChecks({
  database,
  keys,
  needsKey,
  migrations,
}: HealthCheckOptions): HealthOptions['checks'] {
  let asked: Promise<readonly string[]> | null = null;
  /** The steps that are missing, asked for once for all that want to know. Rejects when the store does not answer. */
  function pending(): Promise<readonly string[]> {
    asked ??= migrations()
      .then((states) => pendingSteps(states))
      .finally(() => (asked = null));
    return asked;
  }

  return {
    async store() {
      // Without its table there is nothing to write to: that is for the schema to say.
      if ((await pending()).length === 0) await writeNothing(database);
      return true;
    },
    async schema() {
      const missing = await pending();
      if (missing.length > 0)
        throw new Error(
          `Steps of the schema are not applied: ${missing.join(', ')}; run npx portico db:migrate up`,
        );
      return true;
    },
    async key() {
      if ((await keys.published()).length > 0) return true;
      const isNeeded = await needsKey().catch(() => null);
      if (isNeeded === null) return false;
      if (isNeeded)
        throw new Error(`There is ${missingKey(DEFAULT_ALGORITHM).key}, and clients ask for ID tokens`);
      return true;
    },
  };
}
