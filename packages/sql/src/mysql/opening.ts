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

/** Like `fromPostgres`, but for the application's own pool from `mysql2` or `mysql2/promise`. */
export function fromMysql(pool: MysqlPool, options: BorrowingOptions = {}): BorrowedDatabase {
  return borrowed(options, () => ({
    dialect: 'mysql',
    engine: (limits) => borrowMysql(pool, limits),
    store: pool,
  }));
}
