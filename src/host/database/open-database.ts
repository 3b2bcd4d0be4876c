import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { SqlDialect } from '../../sql/contract.ts';
import type { BorrowedDatabase, BorrowingOptions, OpenedDatabase } from '../contracts.ts';
import { ConfigurationError } from '../../contracts/errors.ts';
import { surviveBrokenIdle } from './broken-idle.ts';
import { createDatabase } from './database.ts';
import type { Engine } from './engine.ts';
import { openMysql } from './mysql.ts';
import { borrowMysql } from './mysql-borrowed.ts';
import type { PoolLimits } from './pool.ts';
import type { MysqlPool, PostgresPool } from './pools.ts';
import { borrowPostgres, openPostgres } from './postgres.ts';
import { openSqlite } from './sqlite/engine.ts';
import { fileOf } from './sqlite/location.ts';
import { systemTimer } from './timer.ts';

/** How a store is opened. */
export interface DatabaseOptions extends Omit<BorrowingOptions, 'log'> {
  /** The folder that a relative file of SQLite is in, absolute. */
  readonly directory: string;
  /** Connections to a server at most; 10. */
  readonly poolSize?: number;
  /** Seconds that a connection to a server is used at most; 300. Some end a tenth earlier, so that not all end at once. */
  readonly connectionLifetime?: number;
  /** Seconds that a statement on a server may take; 10. The server is told, where it can be. */
  readonly statementTimeout?: number;
}

/** In seconds: a server that hangs must not hang the application. */
const STATEMENT_TIMEOUT = 10;

/**
 * Opens the store that a URL names: `sqlite:<file>` (relative to the directory; `sqlite::memory:`), `postgres://…` (of several
 * servers: `postgres://…@one:5432,other:5432/…`), `mysql://…` or `mariadb://…`. Connects at the first statement. Throws a
 * ConfigurationError for any other URL.
 */
export function openDatabase(url: string, options: DatabaseOptions): OpenedDatabase {
  const { connectionLifetime = 300, poolSize: size = 10, directory, schema = null } = options;
  const { statementTimeout = STATEMENT_TIMEOUT } = options;
  const [, scheme = '', rest = ''] = /^([a-z]+):(.*)$/s.exec(url) ?? [];
  const own = { store: null, lifetime: connectionLifetime * 1000, statementTimeout };
  const open = (dialect: SqlDialect, engine: EngineOf) => assemble({ ...own, dialect, engine }, options);
  switch (scheme) {
    case 'sqlite': {
      const file = rest === ':memory:' ? rest : path.resolve(directory, rest.replace(/^\/\/(?=\/)/, ''));
      if (rest !== '') return open('sqlite', () => openSqlite(file));
      break;
    }
    case 'postgres':
    case 'postgresql':
      return open('postgres', (limits) => openPostgres(url, { ...limits, size }, schema));
    case 'mysql':
    case 'mariadb':
      return open('mysql', (limits) => openMysql(url, { ...limits, size }));
    default:
  }
  throw new ConfigurationError([
    {
      key: 'database_url',
      message: 'must be sqlite:<file>, postgres://… or mysql://… (DATABASE_URL sets it)',
    },
  ]);
}

/**
 * The application's own pool of `pg` as the store. Portico takes a connection for each statement or transaction, waits 5 seconds
 * for one at most, and gives it back as it was. The pool stays the application's: Portico never ends it, and changes none of its
 * settings. A pool without an `error` listener gets one, since a broken idle connection would end the process.
 */
export function fromPostgres(pool: PostgresPool, options: BorrowingOptions = {}): BorrowedDatabase {
  return borrowed(options, (chosen) => {
    surviveBrokenIdle(pool, chosen.log ?? null);
    return assemble(
      {
        dialect: 'postgres',
        engine: (limits) => borrowPostgres(pool, limits, chosen.schema ?? null),
        store: pool,
        lifetime: null,
        statementTimeout: STATEMENT_TIMEOUT,
      },
      chosen,
    );
  });
}

/** The application's own pool of `mysql2`, or of `mysql2/promise`, as the store; the rest is as for `fromPostgres`. */
export function fromMysql(pool: MysqlPool, options: BorrowingOptions = {}): BorrowedDatabase {
  return borrowed(options, (chosen) =>
    assemble(
      {
        dialect: 'mysql',
        engine: (limits) => borrowMysql(pool, limits),
        store: pool,
        lifetime: null,
        statementTimeout: STATEMENT_TIMEOUT,
      },
      chosen,
    ),
  );
}

/**
 * The file of the application's own connection as the store: a `DatabaseSync` of `node:sqlite`. Portico opens a connection of its own
 * to the same file, since in a shared one the application's statements would land in Portico's transactions. Throws a
 * ConfigurationError for a database in memory, and for one of another library, such as `better-sqlite3`.
 */
export function fromSqlite(database: DatabaseSync, options: BorrowingOptions = {}): BorrowedDatabase {
  const file = fileOf(database);
  return borrowed(options, (chosen) =>
    assemble(
      {
        dialect: 'sqlite',
        engine: () => openSqlite(file, { isBorrowed: true }),
        store: null,
        lifetime: null,
        statementTimeout: STATEMENT_TIMEOUT,
      },
      chosen,
    ),
  );
}

function borrowed(
  options: BorrowingOptions,
  open: (options: BorrowingOptions) => OpenedDatabase,
): BorrowedDatabase {
  return { ...open(options), open: (over = {}) => open({ ...options, ...over }) };
}

type EngineOf = (limits: PoolLimits) => Engine;

interface Opening {
  readonly dialect: SqlDialect;
  readonly engine: EngineOf;
  /** What statements wait for each other on; null for what is opened here. */
  readonly store: object | null;
  /** How long a connection is used at most, in milliseconds; null for as long as its pool says. */
  readonly lifetime: number | null;
  /** How long a statement may take, in seconds. */
  readonly statementTimeout: number;
}

function assemble(
  { dialect, engine: open, store, lifetime, statementTimeout }: Opening,
  options: BorrowingOptions,
): OpenedDatabase {
  const { transactionTimeout = 30, transactionIdleTimeout = 2, timer = systemTimer, schema = null } = options;
  if (schema !== null) requireSchema(dialect, schema);
  const limits = { connectionLifetime: lifetime, timer };
  const times = { statementTimeout: statementTimeout * 1000, idleTimeout: transactionIdleTimeout * 1000 };
  const engine = open({ ...limits, ...times });
  const engineWithoutTimeout = () =>
    // SQLite waits for no server, and a database in memory exists once.
    dialect === 'sqlite' ? engine : open({ ...limits, statementTimeout: null, idleTimeout: null });
  let withoutTimeout: OpenedDatabase | null = null;
  const common = { dialect, schema, store: store ?? engine };
  return createDatabase({
    ...common,
    engine,
    limits: { duration: transactionTimeout * 1000, idle: transactionIdleTimeout * 1000, timer },
    withoutTimeout: () =>
      (withoutTimeout ??= createDatabase({
        ...common,
        engine: engineWithoutTimeout(),
        limits: { duration: null, idle: null, timer },
        withoutTimeout: (itself) => itself,
        close: async () => {},
      })),
    close: async () => withoutTimeout?.close(),
  });
}

/** What PostgreSQL takes as a name that its own schemas do not have; longer ones it would cut off. */
export const SCHEMA_NAME = /^(?!pg_)[A-Za-z_][A-Za-z0-9_]{0,62}$/;

function requireSchema(dialect: SqlDialect, schema: string): void {
  const message =
    dialect === 'postgres'
      ? SCHEMA_NAME.test(schema)
        ? null
        : 'must be a name of letters, digits and underscores, 63 at most'
      : `is for PostgreSQL; ${dialect} has none, so give Portico a database of its own`;
  if (message !== null) throw new ConfigurationError([{ key: 'database_schema', message }]);
}
