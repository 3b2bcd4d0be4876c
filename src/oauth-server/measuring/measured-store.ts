import type { SqlDialect } from '../../sql/contract.ts';
import type { Store } from '../store/store.ts';
import type { Measuring } from './measuring.ts';

type Operation = (...given: readonly unknown[]) => Promise<unknown>;

/** The store, each of whose operations is measured under its own name. */
export function measuredStore(store: Store, measuring: Measuring, dialect: SqlDialect): Store {
  const operations = Object.entries(store).map(([name, given]) => {
    const operation = given as Operation;
    const task = { kind: 'store', name, dialect } as const;
    const removed = REMOVED[name];
    const measured: Operation = (...parameters) => measuring.store(task, () => operation(...parameters));
    if (removed === undefined) return [name, measured];
    const pruning: Operation = async (...parameters) => {
      const result = await measured(...parameters);
      for (const [rows, count] of Object.entries(removed(result))) measuring.removed(rows, count);
      return result;
    };
    return [name, pruning];
  });
  return Object.fromEntries(operations) as Store;
}

type Pruned<Name extends keyof Store> = Awaited<ReturnType<Store[Name]>>;

/** How many rows of each kind an operation that prunes has removed. */
const REMOVED: Readonly<Record<string, (result: unknown) => Readonly<Record<string, number>>>> = {
  prune(result) {
    const { families: authorizations, consentRequests: consent_requests } = result as Pruned<'prune'>;
    return { authorizations, consent_requests };
  },
  pruneAccessTokens: (result) => ({ access_tokens: (result as Pruned<'pruneAccessTokens'>).removed }),
  pruneRegistrations: (result) => ({ clients: (result as Pruned<'pruneRegistrations'>).clients }),
  pruneSingleUses: (result) => ({ single_uses: result as Pruned<'pruneSingleUses'> }),
};
