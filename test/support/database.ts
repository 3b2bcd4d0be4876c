import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { inject } from 'vitest';
import { openDatabase, type Database } from '@portico/sql';

declare module 'vitest' {
  interface ProvidedContext {
    /** The administrator's URL of the database server. It is missing on SQLite. */
    databaseServer?: string;
  }
}

/** A database that only one test file uses. */
export interface TestDatabase {
  /** The URL in the format of `DATABASE_URL`. */
  readonly url: string;
  drop(): Promise<void>;
}

/**
 * Creates a database on the engine of the test project, or on the given server. Null means SQLite,
 * with a file in the folder.
 */
export async function createDatabase(
  folder: string,
  server: string | null = inject('databaseServer') ?? null,
): Promise<TestDatabase> {
  const name = `portico_${randomBytes(6).toString('hex')}`;
  if (server === null)
    return { url: `sqlite:${path.join(folder, `${name}.sqlite`)}`, drop: async () => {} };
  await administer(server, `CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const force = url.protocol === 'postgres:' ? ' WITH (FORCE)' : '';
  return { url: url.href, drop: () => administer(server, `DROP DATABASE ${name}${force}`) };
}

async function administer(server: string, statement: string): Promise<void> {
  const database = openDatabase(server, { directory: '/' });
  try {
    await database.execute(statement);
  } finally {
    await database.close();
  }
}

/**
 * Counts only waits in this database, because other tests use the same server and also wait for
 * locks.
 */
const LOCK_WAITS = {
  postgres: `SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE NOT granted AND datname = current_database()`,
  mysql: `SELECT 1 FROM information_schema.innodb_trx
    JOIN information_schema.processlist ON processlist.id = innodb_trx.trx_mysql_thread_id
    WHERE innodb_trx.trx_state = 'LOCK WAIT' AND processlist.db = DATABASE()`,
} as const;

/**
 * How to poll the functions below, in milliseconds. The interval is long because MariaDB updates
 * these values only after no session has read them for a tenth of a second.
 */
export const LOOKING_AT_LOCKS = { timeout: 20_000, interval: 250 };

/** Whether a statement in this database waits for a lock. */
export async function someoneWaits(database: Database): Promise<boolean> {
  // On SQLite, writes wait in this process and not for a lock, so there is nothing to check.
  return database.dialect === 'sqlite' || (await countWaiting(database)) > 0;
}

/** Returns how many statements in this database wait for a lock. */
export async function countWaiting(database: Database): Promise<number> {
  const { dialect } = database;
  return dialect === 'sqlite' ? 0 : (await database.execute(LOCK_WAITS[dialect])).rows.length;
}
