import { MysqlDialect } from 'kysely';
import { driver } from './driver.ts';

/** How long a request waits for a connection, in milliseconds. */
const CONNECTION_TIMEOUT = 5000;

/** MySQL or MariaDB through `mysql2`, which is imported only here: an application on SQLite need not install it. */
export function mysqlDialect(url: string): MysqlDialect {
  return new MysqlDialect({
    pool: async () => {
      const { createPool } = await driver('mysql2', () => import('mysql2'));
      const pool = createPool({
        uri: url.replace(/^mariadb:/, 'mysql:'),
        connectionLimit: 10,
        connectTimeout: CONNECTION_TIMEOUT,
        charset: 'utf8mb4',
        supportBigNumbers: true,
      });
      pool.on('connection', (connection) => {
        connection.query("SET SESSION sql_mode = 'TRADITIONAL'");
      });
      return pool;
    },
  });
}
