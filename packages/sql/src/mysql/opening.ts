import type { BorrowedDatabase, BorrowingOptions } from '../opened.ts';
import { borrowed, type EngineOpener } from '../opening.ts';
import { borrowMysql, type MysqlPool } from './borrowed.ts';
import { openMysql } from './engine.ts';

export const mysqlOpener: EngineOpener = {
  dialect: 'mysql',
  schemes: ['mysql', 'mariadb'],
  open:
    ({ url }, { poolSize: size = 10 }) =>
    (limits) =>
      openMysql(url, { ...limits, size }),
};

/**
 * Creates a store on the application's own pool from `mysql2` or `mysql2/promise`, 3.9 or later.
 * For each statement or transaction, Portico waits at most 5 seconds for a connection. It
 * configures the session first, and restores the session afterwards. Portico never ends the pool or
 * changes its settings.
 *
 * Throws a ConfigurationError if `pool` is not such a pool. The first statement rejects with one if
 * the pool's charset is not `utf8mb4`, or if the pool has the option `queryFormat`.
 *
 * @example
 * const database = fromMysql(createPool({ uri: 'mysql://app@db.example/shop' }));
 */
export function fromMysql(pool: MysqlPool, options: BorrowingOptions = {}): BorrowedDatabase {
  return borrowed(options, () => ({
    dialect: 'mysql',
    engine: (limits) => borrowMysql(pool, limits),
    store: pool,
  }));
}
