import type { BorrowedDatabase, BorrowingOptions } from '../opened.ts';
import { borrowed, type EngineOpener } from '../opening.ts';
import { borrowPostgres, type PostgresPool } from './borrowed.ts';
import { surviveBrokenIdle } from './broken-idle.ts';
import { openPostgres } from './engine.ts';

export const postgresOpener: EngineOpener = {
  dialect: 'postgres',
  schemes: ['postgres', 'postgresql'],
  open:
    ({ url }, { poolSize: size = 10, schema = null }) =>
    (limits) =>
      openPostgres(url, { ...limits, size }, schema),
};

/**
 * Creates a store on the application's own `pg` pool, 8.11 or later. For each statement or
 * transaction, Portico waits at most 5 seconds for a connection. It adds prepared statements to the
 * connection and changes nothing else in it. Portico never ends the pool or changes its settings.
 * If the pool has no `error` listener, Portico adds one, so that a broken idle connection does not
 * end the process.
 *
 * The first statement rejects with a ConfigurationError if `pg` is too old, or if the pool uses
 * `pg-native` or the option `pipeline`.
 *
 * @example
 * const database = fromPostgres(new pg.Pool({ host: 'db.example', database: 'shop' }));
 */
export function fromPostgres(pool: PostgresPool, options: BorrowingOptions = {}): BorrowedDatabase {
  return borrowed(options, ({ log = null, schema = null }) => {
    surviveBrokenIdle(pool, log);
    return {
      dialect: 'postgres',
      engine: (limits) => borrowPostgres(pool, limits, schema),
      store: pool,
    };
  });
}
