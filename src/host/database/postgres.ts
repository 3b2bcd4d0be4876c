import { PostgresDialect } from 'kysely';
import { driver } from './driver.ts';

/** How long a request waits for a connection, in milliseconds. */
const CONNECTION_TIMEOUT = 5000;

/** PostgreSQL through `pg`, which is imported only here: an application on SQLite need not install it. */
export function postgresDialect(url: string): PostgresDialect {
  return new PostgresDialect({
    pool: async () => {
      const { default: pg } = await driver('pg', () => import('pg'));
      const pool = new pg.Pool({
        connectionString: url,
        max: 10,
        connectionTimeoutMillis: CONNECTION_TIMEOUT,
        types: {
          // 64-bit integers are times and counts here, well within what a number holds.
          getTypeParser: (oid, format) =>
            oid === pg.types.builtins.INT8 && format !== 'binary'
              ? Number
              : pg.types.getTypeParser(oid, format),
        },
      });
      // An idle connection that breaks is replaced at the next use; without a listener it would end the process.
      pool.on('error', () => {});
      return pool;
    },
  });
}

/** `?` placeholders become `$1`, `$2` and so on; those inside quotes are left alone. */
export function numberedPlaceholders(sql: string): string {
  let count = 0;
  return sql.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|\?/g, (match) => {
    if (match !== '?') return match;
    count += 1;
    return `$${count}`;
  });
}
