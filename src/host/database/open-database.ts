import path from 'node:path';
import type { SqlDialect } from '../../sql/contract.ts';
import type { OpenedDatabase, Timer } from '../contracts.ts';
import { ConfigurationError } from '../../contracts/errors.ts';
import { createDatabase } from './database.ts';
import type { Engine } from './engine.ts';
import { openMysql } from './mysql.ts';
import type { PoolLimits } from './pool.ts';
import { openPostgres } from './postgres.ts';
import { openSqlite } from './sqlite/engine.ts';
import { systemTimer } from './timer.ts';

/** How a store is opened. */
export interface DatabaseOptions {
  /** The folder that a relative file of SQLite is in, absolute. */
  readonly directory: string;
  /** Seconds that a connection to a server is used at most; 300. Some end a tenth earlier, so that not all end at once. */
  readonly connectionLifetime?: number;
  /** Seconds that a transaction may last; 30. */
  readonly transactionTimeout?: number;
  /** Seconds that a transaction may wait for anything but its statements, once the first of them has run; 2. */
  readonly transactionIdleTimeout?: number;
  /** Measures these times; the system's unless given. */
  readonly timer?: Timer;
}

/** How long a request waits for a statement: a server that hangs must not hang the application, in milliseconds. */
const STATEMENT_TIMEOUT = 10_000;

/**
 * Opens the store that a URL names: `sqlite:<file>` (relative to the directory; `sqlite::memory:`), `postgres://…`,
 * `mysql://…` or `mariadb://…`. Connects at the first statement. Throws a ConfigurationError for any other URL.
 */
export function openDatabase(url: string, options: DatabaseOptions): OpenedDatabase {
  const { connectionLifetime = 300, transactionTimeout = 30, transactionIdleTimeout = 2 } = options;
  const { timer = systemTimer } = options;
  const lifetime = { connectionLifetime: connectionLifetime * 1000, timer };
  const open = (limits: PoolLimits) => openEngine(url, options.directory, limits);
  const { dialect, engine } = open({ ...lifetime, statementTimeout: STATEMENT_TIMEOUT });
  const engineWithoutTimeout = () =>
    // SQLite waits for no server, and a database in memory exists once.
    dialect === 'sqlite' ? engine : open({ ...lifetime, statementTimeout: null }).engine;
  let withoutTimeout: OpenedDatabase | null = null;
  return createDatabase({
    dialect,
    engine,
    store: engine,
    limits: { duration: transactionTimeout * 1000, idle: transactionIdleTimeout * 1000, timer },
    withoutTimeout: () =>
      (withoutTimeout ??= createDatabase({
        dialect,
        engine: engineWithoutTimeout(),
        store: engine,
        limits: { duration: null, idle: null, timer },
        withoutTimeout: (itself) => itself,
        close: async () => {},
      })),
    close: async () => withoutTimeout?.close(),
  });
}

function openEngine(
  url: string,
  directory: string,
  limits: PoolLimits,
): { readonly dialect: SqlDialect; readonly engine: Engine } {
  const [, scheme = '', rest = ''] = /^([a-z]+):(.*)$/s.exec(url) ?? [];
  switch (scheme) {
    case 'sqlite': {
      const file = rest === ':memory:' ? rest : path.resolve(directory, rest.replace(/^\/\/(?=\/)/, ''));
      if (rest !== '') return { dialect: 'sqlite', engine: openSqlite(file) };
      break;
    }
    case 'postgres':
    case 'postgresql':
      return { dialect: 'postgres', engine: openPostgres(url, limits) };
    case 'mysql':
    case 'mariadb':
      return { dialect: 'mysql', engine: openMysql(url, limits) };
    default:
  }
  throw new ConfigurationError([
    {
      key: 'database_url',
      message: 'must be sqlite:<file>, postgres://… or mysql://… (DATABASE_URL sets it)',
    },
  ]);
}
