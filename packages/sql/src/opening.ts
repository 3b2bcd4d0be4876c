import type { BorrowedDatabase, BorrowingOptions, OpenedDatabase } from './opened.ts';
import type { SqlDialect } from './contract.ts';
import { getDialect } from './engines.ts';
import { ConfigurationError } from './errors.ts';
import { createDatabase } from './database.ts';
import type { Engine } from './engine.ts';
import type { PoolLimits } from './pool.ts';
import { systemTimer } from './timer.ts';

/** Options for `openDatabase`. */
export interface DatabaseOptions extends Omit<BorrowingOptions, 'log'> {
  /** The absolute path of the base folder for relative SQLite paths. */
  readonly directory: string;
  /** The maximum number of connections to a server. Default: 10. */
  readonly poolSize?: number;
  /**
   * How long a connection to a server is used, in seconds. Default: 300. Portico closes some
   * connections up to 10% earlier, so that they do not all close at the same time.
   */
  readonly connectionLifetime?: number;
  /**
   * How long a statement on a server may take, in seconds. Default: 10. If the server supports such
   * a limit, it enforces the limit too.
   */
  readonly statementTimeout?: number;
}

/** A database URL, split into parts. */
export interface DatabaseUrl {
  readonly url: string;
  /** The part of the database URL after the scheme and its colon. */
  readonly rest: string;
}

/** Opens an engine's databases by URL. */
export interface EngineOpener {
  readonly dialect: SqlDialect;
  readonly schemes: readonly string[];
  /** Opens the database. Returns null if the URL does not specify a database. */
  open(url: DatabaseUrl, options: DatabaseOptions): EngineOf | null;
}

/** Creates an engine that applies these limits. */
export type EngineOf = (limits: PoolLimits) => Engine;

/**
 * The default time limit for a statement, in seconds. With a limit, the application keeps
 * responding if the server hangs.
 */
const STATEMENT_TIMEOUT = 10;

/** Creates a store on an engine that Portico opens. Closing the store closes the engine too. */
export function opened(
  dialect: SqlDialect,
  engine: EngineOf,
  options: DatabaseOptions,
): OpenedDatabase {
  const { connectionLifetime = 300, statementTimeout = STATEMENT_TIMEOUT } = options;
  const lifetime = connectionLifetime * 1000;
  return assemble({ dialect, engine, store: null, lifetime, statementTimeout }, options);
}

/**
 * Creates a store on the application's own pool or file. While a transaction of one store runs, its
 * work cannot run statements on another store with the same `store` object.
 */
export function borrowed(
  options: BorrowingOptions,
  open: (options: BorrowingOptions) => Pick<Opening, 'dialect' | 'engine' | 'store'>,
): BorrowedDatabase {
  const make = (chosen: BorrowingOptions) =>
    assemble({ ...open(chosen), lifetime: null, statementTimeout: STATEMENT_TIMEOUT }, chosen);
  return { ...make(options), open: (over = {}) => make({ ...options, ...over }) };
}

interface Opening {
  readonly dialect: SqlDialect;
  readonly engine: EngineOf;
  /**
   * Identifies the store when a transaction checks which store its work uses. If null, the engine
   * identifies it.
   */
  readonly store: object | null;
  /** How long a connection is used, in milliseconds. If null, the pool decides. */
  readonly lifetime: number | null;
  /** How long a statement may take, in seconds. */
  readonly statementTimeout: number;
}

function assemble(
  { dialect, engine: open, store, lifetime, statementTimeout }: Opening,
  options: BorrowingOptions,
): OpenedDatabase {
  const {
    transactionTimeout = 30,
    transactionIdleTimeout = 2,
    timer = systemTimer,
    schema = null,
  } = options;
  if (schema !== null) requireSchema(dialect, schema);
  const limits = { connectionLifetime: lifetime, timer };
  const times = {
    statementTimeout: statementTimeout * 1000,
    idleTimeout: transactionIdleTimeout * 1000,
  };
  const engine = open({ ...limits, ...times });
  const engineWithoutTimeout = () =>
    // An embedded engine has no time limit to remove, because it does not wait for a server. Also,
    // an in-memory database cannot be opened a second time.
    getDialect({ dialect }).isEmbedded
      ? engine
      : open({ ...limits, statementTimeout: null, idleTimeout: null });
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

function requireSchema(dialect: SqlDialect, schema: string): void {
  const { schemas } = getDialect({ dialect });
  const message =
    schemas === null
      ? `is only for PostgreSQL; ${dialect} has no schemas, so use a separate database for Portico`
      : schemas.problem(schema);
  if (message !== null) throw new ConfigurationError([{ key: 'database_schema', message }]);
}
