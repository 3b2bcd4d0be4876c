import type { PoolConnection, QueryOptions, ResultSetHeader, RowDataPacket } from 'mysql2';
import type { SqlParameter } from '../contract.ts';
import { ConfigurationError } from '../errors.ts';
import { ESCAPES, loadDriver, refuseOldDriver, type Driver } from '../driver.ts';
import type { Engine, StatementResult } from '../engine.ts';
import { isUnknown } from '../failures.ts';
import {
  LONGER_THAN_THE_SERVER,
  numberOrNull,
  PoolEngine,
  type PooledConnection,
  type PoolFigures,
  type PoolLimits,
} from '../pool.ts';
import { isAboutSession } from './session.ts';

/** The driver. */
export const MYSQL2: Driver = { name: 'mysql2', least: '3.9' };

/** How long a request waits for a connection to be made, in milliseconds. */
const CONNECTION_TIMEOUT = 5000;
/** How many requests wait for a connection before the next is refused: the store is too busy. */
const LONGEST_QUEUE = 1000;

/** On a node of Galera reads, and the reading of UPDATE, DELETE, INSERT and REPLACE, wait for what others have committed. */
const SYNC_WAIT = 7;

/** One that was cut off from the others tells nothing, whatever the server's own sessions may read there. */
export const GALERA = `SESSION wsrep_sync_wait = ${SYNC_WAIT}, SESSION wsrep_dirty_reads = 0`;

interface Setting {
  readonly sql: string;
  /** Whether there are servers that do not know it. */
  readonly isOptional?: true;
}

/**
 * What a connection is told before anything else runs on it, and once: it is given up when it refuses, and after a statement of the
 * application that tells it something else. Nothing here resets a connection, and the proxies that share connections (ProxySQL,
 * MaxScale) carry what a session was told from one to the next.
 */
function sessionOf({ statementTimeout }: PoolLimits): readonly Setting[] {
  // A limit of the server's own that is smaller stays.
  const [lockWait, time] = statementTimeout === null ? ['', '0'] : limitsOf(statementTimeout / 1000);
  return [
    { sql: `SET SESSION sql_mode = 'TRADITIONAL'${lockWait}` },
    { sql: 'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED' },
    // MySQL has neither: it is limited in the waits for locks alone.
    { sql: `SET SESSION max_statement_time = ${time}`, isOptional: true },
    { sql: `SET ${GALERA}`, isOptional: true },
  ];
}

function limitsOf(seconds: number): readonly [string, string] {
  const whole = Math.ceil(seconds);
  // MySQL takes what LEAST answers for no integer. For a table that somebody alters it would otherwise wait a year.
  const [rows, tables] = ['innodb_lock_wait_timeout', 'lock_wait_timeout'].map(
    (name) => `, SESSION ${name} = CAST(LEAST(@@SESSION.${name}, ${whole}) AS UNSIGNED)`,
  );
  return [
    `${rows}${tables}`,
    `IF(@@SESSION.max_statement_time > 0, LEAST(@@SESSION.max_statement_time, ${seconds}), ${seconds})`,
  ];
}

/** MySQL or MariaDB through `mysql2`, which is imported only here: an application on SQLite need not install it. */
export function openMysql(url: string, limits: PoolLimits & { readonly size: number }): Engine {
  const { statementTimeout } = limits;
  const session = sessionOf(limits);
  const address = withoutReset(url);
  refuseOldDriver(MYSQL2);
  return new PoolEngine({
    async open() {
      const { createPool } = await loadDriver(MYSQL2, () => import('mysql2'));
      const pool = createPool({
        uri: address,
        connectionLimit: limits.size,
        queueLimit: LONGEST_QUEUE,
        connectTimeout: CONNECTION_TIMEOUT,
        charset: 'utf8mb4',
        supportBigNumbers: true,
      });
      const connections = new WeakMap<PoolConnection, PooledConnection>();
      return {
        async connect() {
          const lent = await promised<PoolConnection>((done) => pool.getConnection(done));
          const known = connections.get(lent);
          if (known !== undefined) return known;
          const connection = toConnection(lent, statementTimeout);
          try {
            for (const setting of session) await tell(connection, setting);
          } catch (error) {
            connection.release(true);
            throw error;
          }
          connections.set(lent, connection);
          return connection;
        },
        end: () => promised<void>((done) => pool.end(done)),
        figures: () => figuresOf(pool),
      };
    },
    isStatementError,
    limits,
  });
}

/** What a pool of `mysql2` knows of itself, which its types do not say. */
export function figuresOf(pool: object): PoolFigures {
  const { _freeConnections: free, config } = pool as {
    readonly _freeConnections?: { readonly length?: unknown };
    readonly config?: { readonly connectionLimit?: unknown };
  };
  return { idle: numberOrNull(free?.length), most: numberOrNull(config?.connectionLimit) };
}

/** A connection that is reset forgets what it was told. The driver takes the option from the URL, whatever it is given beside. */
function withoutReset(url: string): string {
  const address = URL.parse(url.replace(/^mariadb:/, 'mysql:'));
  if (address === null || /,|%2C/i.test(address.host))
    throw new ConfigurationError([{ key: 'database_url', message: WRONG_URL }]);
  address.searchParams.delete('resetOnRelease');
  return address.href;
}

/** Names nothing of the URL, which has a password in it. */
const WRONG_URL =
  `is no URL of one server, mysql://user:password@host:port/database; ${ESCAPES}, ` +
  'and several nodes of Galera have one address before them';

/** Refused by a server that does not know it, what is optional is left out. */
async function tell(connection: ToldConnection, { sql, isOptional }: Setting): Promise<void> {
  try {
    await connection.tell(sql);
  } catch (error) {
    if (isOptional !== true || !isUnknownVariable(error)) throw error;
  }
}

export function isUnknownVariable(error: unknown): boolean {
  return error instanceof Error && 'errno' in error && error.errno === 1193;
}

type Answer = RowDataPacket[] | ResultSetHeader;

/** Executes a statement; `options` go over those of the connection. */
export async function ask(
  connection: PoolConnection,
  sql: string,
  parameters: readonly SqlParameter[],
  options: Partial<QueryOptions>,
): Promise<Answer> {
  return promised<Answer>((done) =>
    connection.query<Answer>({ sql, values: [...parameters], ...options }, (error, answer) =>
      done(error, answer),
    ),
  );
}

interface ToldConnection extends PooledConnection {
  /** Executes a statement about the session, which lasts. */
  tell(sql: string): Promise<unknown>;
}

function toConnection(connection: PoolConnection, statementTimeout: number | null): ToldConnection {
  const limit = statementTimeout === null ? {} : { timeout: statementTimeout + LONGER_THAN_THE_SERVER };
  let isChanged = false;
  const execute = async (sql: string, parameters: readonly SqlParameter[] = []) =>
    toResult(await ask(connection, sql, parameters, limit));
  return {
    execute(sql, parameters) {
      isChanged ||= isAboutSession(sql);
      return execute(sql, parameters);
    },
    tell: execute,
    begin: () => execute('BEGIN'),
    commit: () => execute('COMMIT'),
    isIdle: () => null,
    release: (broken) => (broken || isChanged ? connection.destroy() : connection.release()),
  };
}

function toResult(answer: Answer): StatementResult {
  if (Array.isArray(answer)) return { rows: answer, affected: 0 };
  return toHeader(answer, answer.affectedRows);
}

export function toHeader({ insertId }: ResultSetHeader, affected: number): StatementResult {
  // The driver's types do not say that an id beyond 2^53 arrives as a string, and each of them with `bigNumberStrings`.
  const id = BigInt(insertId);
  return { rows: [], affected, ...(id === 0n ? {} : { insertId: id }) };
}

/** The driver's own promises drop from an error whether it was fatal, so its callbacks are used. */
export function promised<T>(call: (done: (error: unknown, value?: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, value) => {
      if (error === null || error === undefined) resolve(value as T);
      else reject(error);
    });
  });
}

/** An error about a statement has an SQLSTATE; one that is fatal to the connection has none, or says so. */
export function isStatementError(error: unknown): boolean {
  if (!(error instanceof Error) || !('sqlState' in error) || !('errno' in error)) return false;
  if (isUnknown(error)) return false;
  return error.sqlState !== undefined && !('fatal' in error && error.fatal === true);
}
