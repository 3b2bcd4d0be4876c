import { createRequire } from 'node:module';
import path from 'node:path';
import type * as KyselyLibrary from 'kysely';
import type { Database, SqlConnection, SqlDialect, SqlParameter, SqlResult } from './contracts.ts';
import type { Engine, EngineConnection } from './database/engine.ts';
import { kyselyOn } from './database/kysely.ts';
import { openMysql } from './database/mysql.ts';
import { isAboutName, numberedPlaceholders, openPostgres } from './database/postgres.ts';
import { isSqliteUnavailable, openSqlite } from './database/sqlite.ts';
import { ConfigurationError } from './errors.ts';

/**
 * Opens the store that a URL names: `sqlite:<file>` (relative to the directory; `sqlite::memory:`), `postgres://…`,
 * `mysql://…` or `mariadb://…`. Connects at the first statement. Throws a ConfigurationError for any other URL.
 */
export function openDatabase(url: string, options: { readonly directory: string }): Database {
  return open(url, options.directory, STATEMENT_TIMEOUT);
}

/** How long a request waits for the answer to a statement: a server that hangs must not hang the application, in milliseconds. */
const STATEMENT_TIMEOUT = 10_000;

function open(url: string, directory: string, statementTimeout: number | null): Database {
  const { dialect, engine } = engineOf(url, directory, statementTimeout);
  let patient: Database | null = null;
  let kysely: Database['kysely'] | null = null;
  const text = dialect === 'postgres' ? remember(numberedPlaceholders) : (sql: string) => sql;
  const connectionOn = (on: EngineConnection): SqlConnection => ({
    execute: <Row>(sql: string, parameters: readonly SqlParameter[] = []) =>
      on.execute(text(sql), parameters) as Promise<SqlResult<unknown>> as Promise<SqlResult<Row>>,
  });
  const connection = connectionOn(dialect === 'postgres' ? askingAgain(engine) : engine);
  const database: Database = {
    dialect,
    get kysely() {
      return (kysely ??= kyselyOn(loadKysely(), dialect, engine));
    },
    execute: (sql, parameters) => connection.execute(sql, parameters),
    async transaction(work, committed = async () => false) {
      return retrying(async () => {
        let done: { readonly answer: Awaited<ReturnType<typeof work>> } | null = null as typeof done;
        try {
          return await engine.transaction(async (on) => {
            done = null;
            const answer = await work(connectionOn(on));
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
    // SQLite waits for no server, and one in memory is there once.
    patient: () =>
      dialect === 'sqlite' || statementTimeout === null ? database : (patient ??= open(url, directory, null)),
    async close() {
      await patient?.close();
      await engine.close();
    },
  };
  return database;
}

/** A statement by itself is asked again at once when only its name was wrong; one in a transaction, with all of it. */
function askingAgain(engine: EngineConnection): EngineConnection {
  return {
    async execute(sql, parameters) {
      try {
        return await engine.execute(sql, parameters);
      } catch (error) {
        if (!isAboutName(error)) throw error;
        return engine.execute(sql, parameters);
      }
    },
  };
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
  statementTimeout: number | null,
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
      return { dialect: 'postgres', engine: openPostgres(url, statementTimeout) };
    case 'mysql':
    case 'mariadb':
      return { dialect: 'mysql', engine: openMysql(url, statementTimeout) };
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

// --- errors of the engines ------------------------------------------------------------------------------------

const MOST_TRIES = 5;
/** PostgreSQL: serialization_failure, deadlock_detected; MySQL: deadlock, lock wait timeout. */
const WORTH_RETRYING: ReadonlySet<unknown> = new Set(['40001', '40P01', 1213, 1205]);

async function retrying<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (
        tries >= MOST_TRIES ||
        !causesOf(error).some(
          (cause) => isAboutName(cause) || codesOf(cause).some((code) => WORTH_RETRYING.has(code)),
        )
      ) {
        throw error;
      }
      // Two that met once would meet again if both came back at the same moment.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * tries));
    }
  }
}

const UNREACHABLE: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'PROTOCOL_CONNECTION_LOST',
  'POOL_CLOSED',
  'PROTOCOL_SEQUENCE_TIMEOUT',
  // MySQL: too many connections, shutdown in progress, server gone.
  1040,
  1053,
  1077,
  1927,
]);
/** PostgreSQL's classes: connection exception, insufficient resources, operator intervention. */
const UNREACHABLE_CLASSES = /^(?:08|53|57P)/;
/** What `pg` and `mysql2` throw without any code. */
const UNREACHABLE_MESSAGES =
  /timeout exceeded when trying to connect|Query read timeout|Connection terminated|connection is closed|Client has encountered a connection error|in closed state|Queue limit reached|Pool is closed/i;

function isUnavailable(error: unknown): boolean {
  return causesOf(error).some(saysUnavailable);
}

function saysUnavailable(error: Error): boolean {
  if (isSqliteUnavailable(error) || UNREACHABLE_MESSAGES.test(error.message)) return true;
  return codesOf(error).some(
    (code) => UNREACHABLE.has(code) || (typeof code === 'string' && UNREACHABLE_CLASSES.test(code)),
  );
}

function codesOf(error: Error): readonly unknown[] {
  return [...('code' in error ? [error.code] : []), ...('errno' in error ? [error.errno] : [])];
}

/** The error, what caused it, and what caused that; a failed connection to several addresses is an AggregateError. */
function causesOf(error: unknown, depth = 0): readonly Error[] {
  if (!(error instanceof Error) || depth > 5) return [];
  const several: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  return [error, ...[error.cause, ...several].flatMap((cause) => causesOf(cause, depth + 1))];
}
