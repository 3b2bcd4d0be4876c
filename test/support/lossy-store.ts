import type { BorrowedDatabase, OpenedDatabase, SqlConnection, SqlParameter } from 'portico';

/** A store that can be lost at a commit. It stays away as long as the test wants. */
export interface LossyStore {
  readonly database: BorrowedDatabase;
  /**
   * How the next use is lost. The store fails before it responds, after or before the use takes
   * effect.
   */
  loses: 'after it took effect' | 'before it took effect' | null;
  isAway: boolean;
  /** Whether the store is away only for the host's accounts. */
  losesAccounts: boolean;
  /**
   * Called after the loss, before the server asks whether the use took effect. The test can make
   * the store available again here.
   */
  whenLost: () => void;
}

const lost = () => Object.assign(new Error('The store is away'), { code: 'ECONNREFUSED' });

/**
 * Wraps a store. A statement with `committed` is a use. The store calls `committed` once, and then
 * rejects.
 */
export function createLossyStore(inner: OpenedDatabase): LossyStore {
  async function lose<T>(use: () => Promise<T>, committed: () => Promise<boolean>): Promise<T> {
    const when = store.loses;
    store.loses = null;
    const results = when === 'after it took effect' ? [await use()] : [];
    store.isAway = true;
    store.whenLost();
    const tookEffect = await committed();
    const [result] = results;
    if (!tookEffect || result === undefined) throw lost();
    return result;
  }

  const unlessAway = <T>(ask: () => Promise<T>): Promise<T> =>
    store.isAway ? Promise.reject(lost()) : ask();

  const database: BorrowedDatabase = {
    ...inner,
    execute: <Row>(
      sql: string,
      parameters: readonly SqlParameter[] = [],
      committed?: (connection: SqlConnection) => Promise<boolean>,
    ) => {
      const use = () => inner.execute<Row>(sql, parameters);
      if (store.losesAccounts && sql.includes('host_accounts')) return Promise.reject(lost());
      if (store.loses === null || committed === undefined) return unlessAway(use);
      return lose(use, () => committed(database));
    },
    transaction: <T>(
      work: (connection: SqlConnection) => Promise<T>,
      committed?: (connection: SqlConnection, result: T) => Promise<boolean>,
    ) => {
      if (store.loses === null || committed === undefined)
        return unlessAway(() => inner.transaction(work));
      let result: { readonly value: T } | null = null;
      const use = () =>
        inner.transaction(async (connection) => {
          const value = await work(connection);
          result = { value };
          return value;
        });
      return lose(use, () => committed(database, result === null ? (true as T) : result.value));
    },
    close: async () => {},
    open: () => database,
  };
  const store: LossyStore = {
    database,
    loses: null,
    isAway: false,
    losesAccounts: false,
    whenLost: () => {},
  };
  return store;
}
