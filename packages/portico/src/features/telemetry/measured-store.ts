import type { SqlDialect } from '@portico/sql';
import { ExpiredRecords } from '../../store/sql/expired.ts';
import type { Store } from '../../store/store.ts';
import type { MeasuredStoreOperation } from '../../measuring.ts';

interface StoreMeasuring {
  store<T>(task: MeasuredStoreOperation, work: () => Promise<T>): Promise<T>;
  removed(rows: string, count: number): void;
}

type Operation = (...given: readonly unknown[]) => Promise<unknown>;

/** Measures each operation of the store under the name of its method. */
export function measuredStore<Whole extends Store>(
  store: Whole,
  measuring: StoreMeasuring,
  dialect: SqlDialect,
): Whole {
  const records = Object.entries(store).map(([name, record]) => [
    name,
    measuredRecord(record as object, measuring, dialect),
  ]);
  return Object.fromEntries(records) as Whole;
}

/**
 * Measures the methods of a record. If a method calls another one, only the first call is measured.
 * Telemetry uses the task objects as keys, so each is created once.
 */
function measuredRecord(record: object, measuring: StoreMeasuring, dialect: SqlDialect): object {
  const made = new Map<string, Operation>();
  return new Proxy(record, {
    get(_, name: string) {
      const operation = made.get(name) ?? measuredOperation(record, name, measuring, dialect);
      made.set(name, operation);
      return operation;
    },
  });
}

function measuredOperation(
  record: object,
  name: string,
  measuring: StoreMeasuring,
  dialect: SqlDialect,
): Operation {
  const operation = Reflect.get(record, name) as Operation;
  const task = { kind: 'store', name, dialect } as const;
  const removed = record instanceof ExpiredRecords ? REMOVED[name] : undefined;
  return async (...parameters) => {
    const result = await measuring.store(task, () => operation.apply(record, [...parameters]));
    if (removed === undefined) return result;
    for (const [rows, count] of Object.entries(removed(result))) measuring.removed(rows, count);
    return result;
  };
}

type Pruned<Name extends keyof ExpiredRecords> = Awaited<ReturnType<ExpiredRecords[Name]>>;

/** Reads from the result of each pruning operation how many rows of each kind it removed. */
const REMOVED: Readonly<Record<string, (result: unknown) => Readonly<Record<string, number>>>> = {
  prune(result) {
    const { families: authorizations, consentRequests: consent_requests } =
      result as Pruned<'prune'>;
    return { authorizations, consent_requests };
  },
  pruneAccessTokens: (result) => ({
    access_tokens: (result as Pruned<'pruneAccessTokens'>).removed,
  }),
  pruneRegistrations: (result) => ({ clients: (result as Pruned<'pruneRegistrations'>).clients }),
  pruneSingleUses: (result) => ({ single_uses: result as Pruned<'pruneSingleUses'> }),
};
