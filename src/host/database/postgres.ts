import { PostgresDialect, type PostgresPoolClient } from 'kysely';
import type { PoolClient } from 'pg';
import { driver } from './driver.ts';

/** How long a request waits for a connection, in milliseconds. */
const CONNECTION_TIMEOUT = 5000;

/** PostgreSQL through `pg`, which is imported only here: an application on SQLite need not install it. */
export function postgresDialect(url: string, statementTimeout: number | null): PostgresDialect {
  return new PostgresDialect({
    pool: async () => {
      const { default: pg } = await driver('pg', () => import('pg'));
      const pool = new pg.Pool({
        connectionString: url,
        max: 10,
        connectionTimeoutMillis: CONNECTION_TIMEOUT,
        ...(statementTimeout === null ? {} : { query_timeout: statementTimeout }),
        keepAlive: true,
        types: {
          // 64-bit integers are times and counts here, well within what a number holds.
          getTypeParser: (oid, format) =>
            oid === pg.types.builtins.INT8 && format !== 'binary'
              ? Number
              : pg.types.getTypeParser(oid, format),
        },
      });
      // A connection that breaks, in use or not, fails the statement that needs it; without a listener it would end the process.
      pool.on('error', () => {});
      pool.on('connect', (client) => client.on('error', () => {}));
      return {
        options: pool.options,
        connect: async () => discardedWhenBroken(await pool.connect()),
        end: () => pool.end(),
      };
    },
  });
}

/** A connection on which something other than a statement failed is in an unknown state, and is not used again. */
function discardedWhenBroken(client: PoolClient): PostgresPoolClient {
  let broken = false;
  const query = async (sql: string, parameters: unknown[]) => {
    try {
      return await client.query(sql, parameters);
    } catch (error) {
      broken ||= !isStatementError(error);
      throw error;
    }
  };
  return {
    query: query as unknown as PostgresPoolClient['query'],
    release: (destroy) => client.release(destroy === true || broken),
  };
}

/** PostgreSQL names what is wrong with a statement by five characters (SQLSTATE). */
function isStatementError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^[0-9A-Z]{5}$/.test(String(error.code));
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
