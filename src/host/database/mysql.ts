import { MysqlDialect, type MysqlPoolConnection, type MysqlQueryResult } from 'kysely';
import type { PoolConnection, QueryOptions } from 'mysql2';
import { driver } from './driver.ts';

/** How long a request waits for a connection to be made, in milliseconds. */
const CONNECTION_TIMEOUT = 5000;
/** How many requests wait for a connection before the next is told that the store is too busy. */
const LONGEST_QUEUE = 1000;

/** MySQL or MariaDB through `mysql2`, which is imported only here: an application on SQLite need not install it. */
export function mysqlDialect(url: string, statementTimeout: number | null): MysqlDialect {
  return new MysqlDialect({
    pool: async () => {
      const { createPool } = await driver('mysql2', () => import('mysql2'));
      const pool = createPool({
        uri: url.replace(/^mariadb:/, 'mysql:'),
        connectionLimit: 10,
        queueLimit: LONGEST_QUEUE,
        connectTimeout: CONNECTION_TIMEOUT,
        charset: 'utf8mb4',
        supportBigNumbers: true,
      });
      pool.on('connection', (connection) => {
        connection.query("SET SESSION sql_mode = 'TRADITIONAL'");
      });
      return {
        getConnection(callback) {
          pool.getConnection((error, connection) => {
            callback(error, error === null ? discardedWhenBroken(connection, statementTimeout) : connection);
          });
        },
        end: (callback) => pool.end(callback),
      };
    },
  });
}

/**
 * A connection on which something other than a statement failed is in an unknown state, perhaps in the middle of a
 * transaction that the next BEGIN would commit. It is not used again.
 */
function discardedWhenBroken(connection: PoolConnection, timeout: number | null): MysqlPoolConnection {
  let broken = false;
  const query = (sql: string, values: QueryOptions['values'], callback?: QueryCallback) =>
    connection.query({ sql, values, ...(timeout === null ? {} : { timeout }) }, (error, result) => {
      broken ||= error !== null && !isStatementError(error);
      callback?.(error, result as unknown as MysqlQueryResult);
    });
  return {
    config: connection.config,
    threadId: connection.threadId,
    connect: (callback) => connection.connect(callback),
    query,
    release: () => (broken ? connection.destroy() : connection.release()),
    destroy: () => connection.destroy(),
  };
}

type QueryCallback = (error: unknown, result: MysqlQueryResult) => void;

/** The server names what is wrong with a statement by its SQLSTATE; what is fatal to the connection has none, or says so. */
function isStatementError(error: Error): boolean {
  return 'sqlState' in error && error.sqlState !== undefined && !('fatal' in error && error.fatal === true);
}
