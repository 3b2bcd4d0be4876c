import { createRequire } from 'node:module';
import path from 'node:path';
import type * as KyselyLibrary from 'kysely';
import type { OpenedDatabase, Timer } from './contracts.ts';
import type { SqlConnection, SqlDialect, SqlParameter, SqlResult } from '../sql/contract.ts';
import type { Engine, EngineConnection } from './database/engine.ts';
import { isAboutName, isUnavailable, isWorthRetrying } from './database/failures.ts';
import { kyselyOn } from './database/kysely.ts';
import { openMysql } from './database/mysql.ts';
import { OpenTransaction, refusalInside, type TransactionLimits } from './database/open-transaction.ts';
import type { PoolLimits } from './database/pool.ts';
import { numberedPlaceholders, openPostgres } from './database/postgres.ts';
import { openSqlite } from './database/sqlite.ts';
import { systemTimer } from './database/timer.ts';
import { ConfigurationError } from './errors.ts';

/** How a store is opened. */
export interface DatabaseOptions {
  /** Where a relative file of SQLite's is, absolute. */
  readonly directory: string;
  /** Seconds that a connection to a server is used at most; 300. Some end a tenth earlier, so that not all end at once. */
  readonly connectionLifetime?: number;
  /** Seconds that a transaction may last; 30. */
  readonly transactionTimeout?: number;
  /** Seconds that a transaction may wait for anything but its statements, once it has begun with them; 2. */
  readonly transactionIdleTimeout?: number;
  /** By which these times pass. */
  readonly timer?: Timer;
}

/**
 * Opens the store that a URL names: `sqlite:<file>` (relative to the directory; `sqlite::memory:`), `postgres://…`,
 * `mysql://…` or `mariadb://…`. Connects at the first statement. Throws a ConfigurationError for any other URL.
 */
export function openDatabase(url: string, options: DatabaseOptions): OpenedDatabase {
  const { connectionLifetime = 300, transactionTimeout = 30, transactionIdleTimeout = 2 } = options;
  const { timer = systemTimer } = options;
  const lifetime = { connectionLifetime: connectionLifetime * 1000, timer };
  const open = (limits: PoolLimits) => engineOf(url, options.directory, limits);
  const limited = open({ ...lifetime, statementTimeout: STATEMENT_TIMEOUT });
  const { dialect, engine } = limited;
  const engineWithoutTimeout = () =>
    // SQLite waits for no server, and one in memory is there once.
    dialect === 'sqlite' ? engine : open({ ...lifetime, statementTimeout: null }).engine;
  let withoutTimeout: OpenedDatabase | null = null;
  const database = databaseOn({
    dialect,
    engine,
    store: engine,
    limits: { duration: transactionTimeout * 1000, idle: transactionIdleTimeout * 1000, timer },
    withoutTimeout: () =>
      (withoutTimeout ??= databaseOn({
        dialect,
        engine: engineWithoutTimeout(),
        store: engine,
        limits: { duration: null, idle: null, timer },
        withoutTimeout: (itself) => itself,
        close: async () => {},
      })),
    close: async () => withoutTimeout?.close(),
  });
  return database;
}

/** How long a request waits for the answer to a statement: a server that hangs must not hang the application, in milliseconds. */
const STATEMENT_TIMEOUT = 10_000;

interface Parts {
  readonly dialect: SqlDialect;
  readonly engine: Engine;
  /** What transactions are on: whoever is inside of one asks nothing of it but through that one. */
  readonly store: object;
  readonly limits: TransactionLimits;
  readonly withoutTimeout: (itself: OpenedDatabase) => OpenedDatabase;
  /** What else is closed with it. */
  readonly close: () => Promise<void>;
}

function databaseOn(parts: Parts): OpenedDatabase {
  const { dialect, store, limits } = parts;
  const engine = refusingInside(parts.engine, store);
  let kysely: OpenedDatabase['kysely'] | null = null;
  const text = dialect === 'postgres' ? remember(numberedPlaceholders) : (sql: string) => sql;
  const connectionOn = (on: EngineConnection): SqlConnection => ({
    execute: <Row>(sql: string, parameters: readonly SqlParameter[] = []) =>
      on.execute(text(sql), parameters) as Promise<SqlResult<unknown>> as Promise<SqlResult<Row>>,
  });
  const connection = connectionOn(dialect === 'sqlite' ? engine : askingAgain(engine));
  const database: OpenedDatabase = {
    dialect,
    get kysely() {
      return (kysely ??= kyselyOn({ library: loadKysely(), dialect, engine, store, limits }));
    },
    execute: (sql, parameters) => connection.execute(sql, parameters),
    async transaction(work, committed = async () => false) {
      return retrying(async () => {
        let done: { readonly answer: Awaited<ReturnType<typeof work>> } | null = null as typeof done;
        try {
          return await engine.transaction(async (on) => {
            done = null;
            const answer = await new OpenTransaction(store, on, limits).run((open) =>
              work(connectionOn(open)),
            );
            done = { answer };
            return answer;
          });
        } catch (error) {
          if (done === null || !isUnavailable(error)) throw error;
          const { answer } = done;
          if (await settle(() => committed(connection, answer))) return answer;
          throw error;
        }
      });
    },
    readTogether: (work) => engine.readTogether(work),
    isUnavailable,
    withoutTimeout: () => parts.withoutTimeout(database),
    async close() {
      await parts.close();
      await engine.close();
    },
  };
  return database;
}

/** Inside of a transaction everything else would wait: on SQLite for ever, on a server once the last connection is taken. */
function refusingInside(engine: Engine, store: object): Engine {
  const unlessInside = <T>(ask: () => Promise<T>): Promise<T> => {
    const refusal = refusalInside(store);
    return refusal === null ? ask() : Promise.reject(refusal);
  };
  return {
    execute: (sql, parameters) => unlessInside(() => engine.execute(sql, parameters)),
    session: () => unlessInside(() => engine.session()),
    transaction: (work) => unlessInside(() => engine.transaction(work)),
    readTogether: (work) => engine.readTogether(work),
    close: () => engine.close(),
  };
}

/**
 * A statement by itself is asked again when others were in its way, and at once when only its name was wrong; one in a
 * transaction, with all of it.
 */
function askingAgain(engine: EngineConnection): EngineConnection {
  const ask: EngineConnection['execute'] = async (sql, parameters) => {
    try {
      return await engine.execute(sql, parameters);
    } catch (error) {
      if (!isAboutName(error)) throw error;
      return engine.execute(sql, parameters);
    }
  };
  return { execute: (sql, parameters) => retrying(() => ask(sql, parameters)) };
}

/** It is as large as everything else together, so it is loaded for those who ask for it. */
function loadKysely(): typeof KyselyLibrary {
  return createRequire(import.meta.url)('kysely') as typeof KyselyLibrary;
}

/** How long the end of a lost commit is looked for, and how often, in milliseconds. */
const SETTLE_WITHIN = 10_000;
const SETTLE_EVERY = 100;

/** Asks until the store answers; false when it stays away. */
async function settle(committed: () => Promise<boolean>): Promise<boolean> {
  const until = performance.now() + SETTLE_WITHIN;
  for (;;) {
    try {
      return await committed();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      if (performance.now() > until) return false;
      await new Promise((resolve) => setTimeout(resolve, SETTLE_EVERY));
    }
  }
}

function engineOf(
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

function remember(rewrite: (sql: string) => string): (sql: string) => string {
  const rewritten = new Map<string, string>();
  return (sql) => {
    let result = rewritten.get(sql);
    if (result === undefined) {
      result = rewrite(sql);
      if (rewritten.size < 1000) rewritten.set(sql, result);
    }
    return result;
  };
}

const MOST_TRIES = 5;

async function retrying<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (tries >= MOST_TRIES || !isWorthRetrying(error)) throw error;
      // Two that met once would meet again if both came back at the same moment.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * tries));
    }
  }
}
