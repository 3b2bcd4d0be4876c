import { DatabaseSync } from 'node:sqlite';
import mysql, { type ResultSetHeader, type RowDataPacket } from 'mysql2/promise';
import pg from 'pg';
import type { Database, SqlConnection, SqlDialect, SqlParameter, SqlResult } from 'portico';

/**
 * A store that an application implements without the kit. It has only the five members of the
 * contract, and `close`.
 */
export interface OwnStore extends Database {
  close(): Promise<void>;
}

/** The differences between the drivers. */
interface Driver {
  readonly dialect: SqlDialect;
  /** The statements that begin a transaction. */
  readonly begin: readonly string[];
  /** Takes a connection for one statement or one transaction. */
  borrow(): Promise<Borrowed>;
  close(): Promise<void>;
}

interface Borrowed {
  execute(
    sql: string,
    parameters: readonly SqlParameter[],
  ): Promise<SqlResult<Record<string, unknown>>>;
  /** Returns the connection, or closes it if it is broken. */
  release(isBroken: boolean): void;
}

/**
 * Opens a store on `node:sqlite`, `pg` or `mysql2`, depending on the URL. It connects at the first
 * statement.
 */
export function openOwnStore(url: string): OwnStore {
  if (url.startsWith('sqlite:')) return createStore(sqlite(url.slice('sqlite:'.length)));
  return createStore(url.startsWith('postgres:') ? postgres(url) : mariadb(url));
}

function createStore(driver: Driver): OwnStore {
  async function withConnection<T>(
    work: (connection: SqlConnection, giveUp: () => void) => Promise<T>,
  ): Promise<T> {
    const borrowed = await driver.borrow();
    let isBroken = false;
    const connection: SqlConnection = {
      execute: <Row>(sql: string, parameters: readonly SqlParameter[] = []) =>
        borrowed.execute(sql, parameters) as Promise<SqlResult<unknown>> as Promise<SqlResult<Row>>,
    };
    try {
      return await work(connection, () => (isBroken = true));
    } finally {
      borrowed.release(isBroken);
    }
  }

  const store: OwnStore = {
    dialect: driver.dialect,
    execute: (sql, parameters) =>
      withConnection((connection) => connection.execute(sql, parameters)),
    async transaction(work, committed) {
      let done: { readonly answer: Awaited<ReturnType<typeof work>> } | null = null as typeof done;
      try {
        return await withConnection(async (connection, giveUp) => {
          for (const statement of driver.begin) await connection.execute(statement);
          try {
            const answer = await work(connection);
            done = { answer };
            await connection.execute('COMMIT');
            return answer;
          } catch (error) {
            await connection.execute('ROLLBACK').catch(giveUp);
            throw error;
          }
        });
      } catch (error) {
        // After the work, only the COMMIT can fail. Its result is then unknown.
        if (done === null || committed === undefined || !isUnavailable(error)) throw error;
        if (await committed(store, done.answer)) return done.answer;
        throw error;
      }
    },
    readTogether: (work) => work(),
    isUnavailable,
    close: () => driver.close(),
  };
  return store;
}

/**
 * Uses only one connection, so that statements run one after another. Only one transaction is open
 * at a time.
 */
function sqlite(file: string): Driver {
  let opened: DatabaseSync | null = null;
  let last: Promise<void> = Promise.resolve();
  return {
    dialect: 'sqlite',
    begin: ['BEGIN IMMEDIATE'],
    async borrow() {
      const turn = last;
      const { promise, resolve } = Promise.withResolvers<void>();
      last = promise;
      await turn;
      return {
        release: () => resolve(),
        async execute(sql, parameters) {
          opened ??= new DatabaseSync(file, { enableForeignKeyConstraints: true });
          const statement = opened.prepare(sql);
          if (statement.columns().length > 0)
            return { rows: statement.all(...parameters), affected: 0 };
          return { rows: [], affected: Number(statement.run(...parameters).changes) };
        },
      };
    },
    async close() {
      await last;
      opened?.close();
    },
  };
}

function postgres(url: string): Driver {
  const pool = new pg.Pool({
    connectionString: url,
    types: {
      // The 64-bit integers here are times, so a number is exact enough.
      getTypeParser: (oid, format) =>
        oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format),
    },
  });
  pool.on('error', () => {});
  return {
    dialect: 'postgres',
    begin: ['BEGIN ISOLATION LEVEL READ COMMITTED'],
    async borrow() {
      const client = await pool.connect();
      return {
        release: (isBroken) => client.release(isBroken),
        async execute(sql, parameters) {
          // No statement of the server has a question mark in quotes.
          let count = 0;
          const text = sql.replaceAll('?', () => `$${(count += 1)}`);
          const { rows, rowCount } = await client.query<Record<string, unknown>>(text, [
            ...parameters,
          ]);
          return { rows, affected: rowCount ?? 0 };
        },
      };
    },
    close: () => pool.end(),
  };
}

function mariadb(url: string): Driver {
  const pool = mysql.createPool({ uri: url, charset: 'utf8mb4' });
  return {
    dialect: 'mysql',
    begin: ['SET TRANSACTION ISOLATION LEVEL READ COMMITTED', 'BEGIN'],
    async borrow() {
      const connection = await pool.getConnection();
      return {
        release: (isBroken) => (isBroken ? connection.destroy() : connection.release()),
        async execute(sql, parameters) {
          const [result] = await connection.query<RowDataPacket[] | ResultSetHeader>(sql, [
            ...parameters,
          ]);
          return Array.isArray(result)
            ? { rows: result, affected: 0 }
            : { rows: [], affected: result.affectedRows };
        },
      };
    },
    close: () => pool.end(),
  };
}

/** The SQLite codes BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN and PROTOCOL. */
const SQLITE_UNAVAILABLE: ReadonlySet<number> = new Set([5, 6, 8, 10, 13, 14, 15]);
/**
 * The codes of broken connections, and of conflicts, shortages and shutdowns on PostgreSQL and
 * MySQL.
 */
const UNAVAILABLE =
  /^(?:ECONN\w+|ETIMEDOUT|EPIPE|PROTOCOL_CONNECTION_LOST|(?:08|53|40)...|57P..|1205|1213|1040|1053)$/;

/** Whether the same statement may succeed later. */
function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errno, errcode } = error as { code?: unknown; errno?: unknown; errcode?: unknown };
  if (typeof errcode === 'number') return SQLITE_UNAVAILABLE.has(errcode & 0xff);
  return UNAVAILABLE.test(String(code)) || UNAVAILABLE.test(String(errno));
}
