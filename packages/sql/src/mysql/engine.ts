import type { PoolConnection, QueryOptions, ResultSetHeader, RowDataPacket } from 'mysql2';
import { Borrowing } from '../borrowing.ts';
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
import { assign, GALERA, SessionChanges, WHOLE } from './session.ts';
import { isError } from '../is-error.ts';

/** The driver for MySQL and MariaDB. */
export const MYSQL2: Driver = { name: 'mysql2', least: '3.9' };

/** How long the server may take to accept a connection, in milliseconds. */
const CONNECTION_TIMEOUT = 5000;

interface Setting {
  readonly sql: string;
  /**
   * Set if some servers do not have the setting. Portico then ignores the error from such a server.
   */
  readonly isOptional?: true;
}

/**
 * Returns the statements that run once on each new connection, before all other statements. If one
 * of them fails, Portico closes the connection. Portico never resets a connection, so it also
 * closes a connection whose session the application has changed. Proxies that share connections
 * (ProxySQL, MaxScale) would pass session settings on to other clients.
 */
function getSession({ statementTimeout }: PoolLimits): readonly Setting[] {
  // If the server has a shorter limit, that limit remains.
  const [lockWait, time] =
    statementTimeout === null ? ['', '0'] : getLimits(statementTimeout / 1000);
  return [
    // Without autocommit, a statement outside a transaction would begin a transaction that might
    // never be committed.
    { sql: `SET SESSION autocommit = 1, ${assign(WHOLE)}${lockWait}` },
    { sql: 'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED' },
    // MySQL does not have these settings. There, Portico's settings limit only how long a statement
    // waits for locks.
    { sql: `SET SESSION max_statement_time = ${time}`, isOptional: true },
    { sql: `SET ${assign(GALERA)}`, isOptional: true },
  ];
}

function getLimits(seconds: number): readonly [string, string] {
  const whole = Math.ceil(seconds);
  // The cast is necessary because MySQL does not accept the result of LEAST as an integer. By
  // default, a statement on a table that is being altered waits for a day (MariaDB) or a year
  // (MySQL).
  const [rows, tables] = ['innodb_lock_wait_timeout', 'lock_wait_timeout'].map(
    (name) => `, SESSION ${name} = CAST(LEAST(@@SESSION.${name}, ${whole}) AS UNSIGNED)`,
  );
  return [
    `${rows}${tables}`,
    `IF(@@SESSION.max_statement_time > 0, LEAST(@@SESSION.max_statement_time, ${seconds}), ` +
      `${seconds})`,
  ];
}

/**
 * Opens MySQL or MariaDB through `mysql2`. Loads `mysql2` only when it is needed, so applications
 * that use SQLite need not install it.
 */
export function openMysql(url: string, limits: PoolLimits & { readonly size: number }): Engine {
  const { statementTimeout } = limits;
  const session = getSession(limits);
  const address = withoutReset(url);
  refuseOldDriver(MYSQL2);
  return new PoolEngine(
    async () => {
      const { createPool } = await loadDriver(MYSQL2, () => import('mysql2'));
      const pool = createPool({
        uri: address,
        connectionLimit: limits.size,
        connectTimeout: CONNECTION_TIMEOUT,
        charset: 'utf8mb4',
        supportBigNumbers: true,
      });
      // Limits how long requests wait for a connection, because the driver's pool has no such
      // limit.
      const waiting = new Borrowing<PoolConnection>(
        limits.timer,
        () => promised((done) => pool.getConnection(done)),
        (lent) => lent.release(),
      );
      const connections = new WeakMap<PoolConnection, PooledConnection>();
      return {
        async connect() {
          const lent = await waiting.take();
          const known = connections.get(lent);
          if (known !== undefined) return known;
          const connection = toConnection(lent, statementTimeout, () => waiting.isBack());
          try {
            for (const setting of session) await tell(connection, setting);
          } catch (error) {
            connection.release(true);
            throw error;
          }
          connections.set(lent, connection);
          return connection;
        },
        async end() {
          // Wait here, because the driver would also close connections on which a transaction still
          // runs.
          await waiting.allBack();
          await promised<void>((done) => pool.end(done));
        },
        figures: () => getFigures(pool),
      };
    },
    isStatementError,
    limits,
  );
}

/**
 * Returns the connection counts of a `mysql2` pool. The pool's types do not declare these
 * properties.
 */
export function getFigures(pool: object): PoolFigures {
  const { _freeConnections: free, config } = pool as {
    readonly _freeConnections?: { readonly length?: unknown };
    readonly config?: { readonly connectionLimit?: unknown };
  };
  return { idle: numberOrNull(free?.length), most: numberOrNull(config?.connectionLimit) };
}

/**
 * Returns the URL with the scheme `mysql:` and without the option `resetOnRelease`, because a reset
 * removes the session settings. Setting the option to `false` in the code would not help, because
 * the driver would still use the URL's value. Throws if the URL is not usable.
 */
function withoutReset(url: string): string {
  const address = URL.parse(url.replace(/^mariadb:/, 'mysql:'));
  if (address === null || /,|%2C/i.test(address.host)) refuse(WRONG_URL);
  requireEncryption(address.searchParams);
  address.searchParams.delete('resetOnRelease');
  return address.href;
}

const FOREIGN_TLS = /ssl|tls/i;
const OPTIONAL = /^(?:disabled?|preferred|false|0|null)?$/i;

/**
 * Throws if the URL requires TLS with an option of another driver, for example `ssl-mode=REQUIRED`.
 * The driver would only warn, and connect without encryption.
 */
function requireEncryption(options: URLSearchParams): void {
  if (options.has('ssl') && !OPTIONAL.test(options.get('ssl') ?? '')) return;
  for (const [name, value] of options) {
    if (FOREIGN_TLS.test(name) && !OPTIONAL.test(value))
      refuse(
        `has the option ${name}, which the driver ${MYSQL2.name} ignores, so the connection ` +
          'would not be encrypted; write ssl={"verifyIdentity":true} instead',
      );
  }
}

function refuse(message: string): never {
  throw new ConfigurationError([{ key: 'database_url', message }]);
}

/** The message must not repeat the URL, because the URL contains a password. */
const WRONG_URL =
  `must be the URL of one server, such as mysql://user:password@host:port/database; ${ESCAPES}, ` +
  'and Galera nodes need one common address';

/**
 * Runs a statement that sets a session variable. If the setting is optional, ignores the error of a
 * server that does not have it.
 */
async function tell(connection: ToldConnection, { sql, isOptional }: Setting): Promise<void> {
  try {
    await connection.tell(sql);
  } catch (error) {
    if (isOptional !== true || !isUnknownVariable(error)) throw error;
  }
}

export function isUnknownVariable(error: unknown): boolean {
  return isError(error) && 'errno' in error && error.errno === 1193;
}

type Answer = RowDataPacket[] | ResultSetHeader;

/** Executes a statement. `options` override the options of the connection. */
export async function ask(
  connection: PoolConnection,
  sql: string,
  parameters: readonly SqlParameter[],
  options: Partial<QueryOptions>,
): Promise<Answer> {
  return promised<Answer>((done) =>
    connection.query<Answer>({ sql, values: [...parameters], ...options }, (error, answer) => {
      // The driver adds the statement with all values, which may be secrets and could appear in a
      // log. So replace it with the statement without values.
      if (error instanceof Error) Object.assign(error, { sql });
      done(error, answer);
    }),
  );
}

interface ToldConnection extends PooledConnection {
  /**
   * Executes a statement that configures the session for Portico. Unlike after a SET with
   * `execute`, the connection is used again.
   */
  tell(sql: string): Promise<unknown>;
}

function toConnection(
  connection: PoolConnection,
  statementTimeout: number | null,
  isBack: () => void,
): ToldConnection {
  const limit =
    statementTimeout === null ? {} : { timeout: statementTimeout + LONGER_THAN_THE_SERVER };
  const changes = new SessionChanges();
  const execute = async (sql: string, parameters: readonly SqlParameter[] = []) =>
    toResult(await changes.watch(sql, () => ask(connection, sql, parameters, limit)));
  return {
    execute(sql, parameters) {
      changes.add(sql);
      return execute(sql, parameters);
    },
    tell: execute,
    begin: () => execute('BEGIN'),
    commit: () => execute('COMMIT'),
    isIdle: () => changes.isIdle,
    askStatus: () => execute('DO 0'),
    release(broken) {
      if (broken || changes.remain) connection.destroy();
      else connection.release();
      isBack();
    },
  };
}

function toResult(answer: Answer): StatementResult {
  if (Array.isArray(answer)) return { rows: answer, affected: 0 };
  return toHeader(answer, answer.affectedRows);
}

export function toHeader({ insertId }: ResultSetHeader, affected: number): StatementResult {
  // The driver returns an id above 2^53 as a string. With `bigNumberStrings`, it returns every id
  // as a string. The driver's types do not declare this.
  const id = BigInt(insertId);
  return { rows: [], affected, ...(id === 0n ? {} : { insertId: id }) };
}

/**
 * Calls a function of the driver and returns a promise. Passes a callback, because the driver's own
 * promises do not report whether an error was fatal.
 */
export function promised<T>(call: (done: (error: unknown, value?: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    call((error, value) => {
      if (error === null || error === undefined) resolve(value as T);
      else reject(error);
    });
  });
}

/**
 * The statement is longer than max_allowed_packet. The server closes the connection after this
 * error.
 */
const PACKET_TOO_LARGE = 1153;

/**
 * Returns whether the connection still works after this error. Errors of a single statement have an
 * SQLSTATE. Errors that break the connection have none, or are marked as fatal.
 */
export function isStatementError(error: unknown): boolean {
  if (!isError(error) || !('sqlState' in error) || !('errno' in error)) return false;
  if (isUnknown(error) || error.errno === PACKET_TOO_LARGE) return false;
  return error.sqlState !== undefined && !('fatal' in error && error.fatal === true);
}
