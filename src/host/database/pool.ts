import type {
  Engine,
  EngineConnection,
  EngineSession,
  StatementResult,
  TransactionSettings,
} from './engine.ts';

/** A database server's connections. */
export interface Pool {
  connect(): Promise<PooledConnection>;
  end(): Promise<void>;
}

export interface PooledConnection extends EngineConnection {
  begin(settings: TransactionSettings): Promise<unknown>;
  commit(): Promise<unknown>;
  /** Gives it back, or gives it up. */
  release(broken: boolean): void;
}

export interface PoolOptions {
  /** Makes the pool, at the first statement. */
  readonly open: () => Promise<Pool>;
  /** Whether the server says that the statement was wrong, and nothing is wrong with the connection. */
  readonly isStatementError: (error: unknown) => boolean;
}

/** An engine on a server's connections: each statement or transaction has one for itself. */
export function onPool({ open, isStatementError }: PoolOptions): Engine {
  let pool: Promise<Pool> | null = null;
  let closed = false;

  async function session(): Promise<EngineSession> {
    if (closed) throw new Error('The database is closed');
    // A driver that could not be loaded may be there the next time.
    pool ??= open().catch((error: unknown) => {
      pool = null;
      throw error;
    });
    return new PoolSession(await (await pool).connect(), isStatementError);
  }

  async function withSession<T>(work: (session: EngineSession) => Promise<T>): Promise<T> {
    const had = await session();
    try {
      return await work(had);
    } finally {
      had.release();
    }
  }

  return {
    session,
    execute: (sql, parameters) => withSession((had) => had.execute(sql, parameters)),
    readTogether: (work) => work(),
    transaction: (work) =>
      withSession(async (had) => {
        await had.begin(EVERYWHERE);
        try {
          const answer = await work(had);
          await had.commit();
          return answer;
        } catch (error) {
          // What went wrong first is what is told.
          await had.rollback().catch(() => {});
          throw error;
        }
      }),
    async close() {
      closed = true;
      const opened = await pool?.catch(() => null);
      pool = null;
      await opened?.end();
    },
  };
}

/** What the transactions of the kit are written for, whatever the server's default. */
const EVERYWHERE: TransactionSettings = { isolationLevel: 'READ COMMITTED' };

/**
 * One on which something other than a statement failed is in an unknown state, perhaps in the middle of a transaction that
 * the next BEGIN would commit: it is not used again.
 */
class PoolSession implements EngineSession {
  readonly #connection: PooledConnection;
  readonly #isStatementError: (error: unknown) => boolean;
  #broken = false;

  constructor(connection: PooledConnection, isStatementError: (error: unknown) => boolean) {
    this.#connection = connection;
    this.#isStatementError = isStatementError;
  }

  execute(sql: string, parameters: readonly unknown[]): Promise<StatementResult> {
    return this.#watched(this.#connection.execute(sql, parameters));
  }

  async begin(settings: TransactionSettings): Promise<void> {
    await this.#watched(this.#connection.begin(settings));
  }

  async commit(): Promise<void> {
    await this.#watched(this.#connection.commit());
  }

  async rollback(): Promise<void> {
    if (this.#broken) return;
    try {
      await this.#connection.execute('ROLLBACK', []);
    } catch (error) {
      this.#broken = true;
      throw error;
    }
  }

  release(): void {
    this.#connection.release(this.#broken);
  }

  async #watched<T>(statement: Promise<T>): Promise<T> {
    try {
      return await statement;
    } catch (error) {
      this.#broken ||= !this.#isStatementError(error);
      throw error;
    }
  }
}
