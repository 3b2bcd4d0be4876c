import type { DatabaseConnections, ObservedServer } from '../../contracts/telemetry.ts';
import type { Database } from '../../sql/contract.ts';
import type { KeyRing } from '../keys.ts';
import { countRows } from '../store/sql/counting.ts';

/** What the kit's stores know beside the contract. */
interface Figures {
  readonly retries?: { readonly statements: number; readonly transactions: number };
  connections?(): DatabaseConnections | null;
}

export interface ObservedServerOptions {
  readonly database: Database;
  readonly keys: Pick<KeyRing, 'published'>;
  readonly clock: () => number;
}

/** The state of a server, for whoever measures it. Asks nothing by itself. */
export function observedServer({ database, keys, clock }: ObservedServerOptions): ObservedServer {
  const figures: Database & Figures = database;
  return {
    retries: () => figures.retries ?? null,
    connections: () => figures.connections?.() ?? null,
    async signingKeys() {
      const now = clock();
      const newest = new Map<string, number>();
      for (const { algorithm, createdAt } of await keys.published())
        newest.set(algorithm, Math.max(createdAt, newest.get(algorithm) ?? 0));
      return [...newest].map(([algorithm, createdAt]) => ({
        algorithm,
        age: Math.max(0, now - createdAt) / 1000,
      }));
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
