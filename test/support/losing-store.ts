import type { OpenedDatabase, SqlConnection } from '@portico/sql';
import { Store } from './store.ts';

export const AWAY = 'The store is away';

export type Losing = 'after it took effect' | 'before it took effect';

/** A store whose commits are lost. `committed` answers whether they took effect. */
export function losingStore(
  database: OpenedDatabase,
  loses: Losing,
  meantime = () => Promise.resolve(),
): Store {
  const tookEffect = loses === 'after it took effect';
  const execute = async (
    ...[sql, parameters, committed]: Parameters<OpenedDatabase['execute']>
  ) => {
    if (committed === undefined) return database.execute(sql, parameters);
    const result = tookEffect ? await database.execute(sql, parameters) : { rows: [], affected: 1 };
    await meantime();
    if (await committed(database)) return result;
    throw new Error(AWAY);
  };
  const transaction: OpenedDatabase['transaction'] = async <T>(
    work: (connection: SqlConnection) => Promise<T>,
    committed?: (connection: SqlConnection, result: T) => Promise<boolean>,
  ) => {
    if (committed === undefined) return database.transaction(work);
    const results: T[] = [];
    const rolledBack = new Error('It was rolled back');
    const all = database.transaction(async (connection) => {
      results.push(await work(connection));
      if (!tookEffect) throw rolledBack;
    });
    await all.catch((error: unknown) => {
      if (error !== rolledBack) throw error;
    });
    await meantime();
    const [result] = results as [T];
    if (await committed(database, result)) return result;
    throw new Error(AWAY);
  };
  return new Store(
    { ...database, execute: execute as OpenedDatabase['execute'], transaction },
    () => true,
  );
}
