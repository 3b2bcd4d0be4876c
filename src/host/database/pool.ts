import type { Timer } from '../contracts.ts';
import type {
  Engine,
  EngineConnection,
  EngineSession,
  StatementResult,
  TransactionSettings,
} from './engine.ts';
import { isUnavailable, isWorthRetrying } from './failures.ts';
import { refuseTransactionControl } from './transaction-control.ts';

/** A database server's connections. */
export interface Pool {
  connect(): Promise<PooledConnection>;
  end(): Promise<void>;
}

export interface PooledConnection extends EngineConnection {
  /** The connection itself: the same object however often it is given out. */
  readonly identity: object;
  begin(settings: TransactionSettings): Promise<unknown>;
  commit(): Promise<unknown>;
  /** Gives it back, or gives it up. */
  release(broken: boolean): void;
}

/** For how long something may go on, in milliseconds. */
export interface PoolLimits {
  /** Until a statement is answered; null for as long as it takes. */
  readonly statementTimeout: number | null;
  /** That a connection is used at most; some end a tenth earlier. */
  readonly connectionLifetime: number;
  readonly timer: Timer;
}

export interface PoolOptions {
  /** Makes the pool, at the first statement. */
  readonly open: () => Promise<Pool>;
  /** Whether the server says that the statement was wrong, and nothing is wrong with the connection. */
  readonly isStatementError: (error: unknown) => boolean;
  readonly limits: PoolLimits;
}

/** An engine on a server's connections: each statement or transaction has one for itself. */
export function onPool({ open, isStatementError, limits }: PoolOptions): Engine {
  const { connectionLifetime, timer } = limits;
  let pool: Promise<Pool> | null = null;
  let closed = false;
  /** When each connection has been used for long enough, by the timer. */
  const replacedAt = new WeakMap<object, number>();

  /** Behind its address there may be another server by now, and one that was the primary may still answer. */
  async function connect(from: Pool): Promise<PooledConnection> {
    for (;;) {
      const connection = await from.connect();
      const now = timer.now();
      const due = replacedAt.get(connection.identity);
      // Connections that were made together, as after an outage, do not all end together.
      if (due === undefined)
        replacedAt.set(connection.identity, now + connectionLifetime * (0.9 + Math.random() * 0.1));
      if (due === undefined || now < due) return connection;
      connection.release(true);
    }
  }

  async function session(): Promise<EngineSession> {
    if (closed) throw new Error('The database is closed');
    // A driver that could not be loaded may be there the next time.
    pool ??= open().catch((error: unknown) => {
      pool = null;
      throw error;
    });
    return new PoolSession(await connect(await pool), isStatementError);
  }

  async function begin(): Promise<EngineSession> {
    const had = await session();
    try {
      await had.begin(EVERYWHERE);
      return had;
    } catch (error) {
      had.release();
      throw error;
    }
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
    async transaction(work) {
      // What a transaction waits for before its first statement keeps no connection from anybody.
      let begun = null as Promise<EngineSession> | null;
      const connection: EngineConnection = {
        execute: async (sql, parameters) => (await (begun ??= begin())).execute(sql, parameters),
      };
      try {
        const answer = await work(connection);
        await (await begun)?.commit();
        return answer;
      } catch (error) {
        // What went wrong first is what is told.
        await begun?.then((session) => session.rollback()).catch(() => {});
        throw error;
      } finally {
        await begun?.then(
          (session) => session.release(),
          () => {},
        );
      }
    },
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
  #inTransaction = false;
  /** What undid the open transaction: on MySQL, every statement that came after a deadlock would commit by itself. */
  #undone: { readonly error: unknown } | null = null;

  constructor(connection: PooledConnection, isStatementError: (error: unknown) => boolean) {
    this.#connection = connection;
    this.#isStatementError = isStatementError;
  }

  async execute(sql: string, parameters: readonly unknown[]): Promise<StatementResult> {
    refuseTransactionControl(sql);
    this.#refuseWhenUndone();
    return this.#watched(this.#connection.execute(sql, parameters));
  }

  async begin(settings: TransactionSettings): Promise<void> {
    await this.#watched(this.#connection.begin(settings));
    this.#inTransaction = true;
  }

  async commit(): Promise<void> {
    this.#refuseWhenUndone();
    await this.#watched(this.#connection.commit());
    this.#inTransaction = false;
  }

  async rollback(): Promise<void> {
    this.#inTransaction = false;
    this.#undone = null;
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

  #refuseWhenUndone(): void {
    if (this.#undone !== null) throw this.#undone.error;
  }

  async #watched<T>(statement: Promise<T>): Promise<T> {
    try {
      return await statement;
    } catch (error) {
      // A primary that another one took over from answers as one whose statement was wrong.
      this.#broken ||= !this.#isStatementError(error) || isUnavailable(error);
      if (this.#inTransaction && (this.#broken || isWorthRetrying(error))) this.#undone ??= { error };
      throw error;
    }
  }
}
