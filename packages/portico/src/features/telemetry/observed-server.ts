import type { Database, DatabaseConnections } from '@portico/sql';
import type { ObservedServer } from '../../measuring.ts';
import type { Outbox } from '../../outbox/outbox.ts';
import type { KeyRing } from '../../keys/key-ring.ts';
import { countRows } from '../../store/sql/counting.ts';

/**
 * The databases of `@portico/sql` report these values, which are not in the `Database` contract.
 */
interface Figures {
  readonly retries?: { readonly statements: number; readonly transactions: number };
  connections?(): DatabaseConnections | null;
}

/** Telemetry reads the server's state through this object. Each value is read on request. */
export function observedServer(
  database: Database,
  keys: KeyRing,
  clock: () => number,
  outbox: Outbox,
): ObservedServer {
  const figures: Database & Figures = database;
  return {
    retries: () => figures.retries ?? null,
    outbox: () => outbox.counts(),
    connections: () => figures.connections?.() ?? null,
    async signingKeys() {
      const now = clock();
      const algorithms = new Set((await keys.published()).map(({ algorithm }) => algorithm));
      const signing = await Promise.all([...algorithms].map((algorithm) => keys.active(algorithm)));
      return signing.flatMap((key) =>
        // Leave out keys whose age is unknown.
        key === null || key.createdAt <= 0
          ? []
          : [{ algorithm: key.algorithm, age: Math.max(0, now - key.createdAt) / 1000 }],
      );
    },
    authorizations: (after, limit) =>
      countRows(
        database,
        ['oauth_families', 'id'],
        ['revoked_at IS NULL AND expires_at > ?', [clock()]],
        after,
        limit,
      ),
    clients: (after, limit) =>
      countRows(database, ['oauth_clients', 'client_id'], ['revoked_at IS NULL', []], after, limit),
  };
}
