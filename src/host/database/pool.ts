import type { SqlParameter } from '../../sql/contract.ts';
import type { Timer } from '../contracts.ts';
import type { Engine, EngineConnection, StatementResult } from './engine.ts';
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
  /** Begins a transaction at READ COMMITTED, whatever the server's default. */
  begin(): Promise<unknown>;
  commit(): Promise<unknown>;
  /** Gives it back to the pool, or gives it up. */
  release(broken: boolean): void;
}

/** Time limits, in milliseconds. */
export interface PoolLimits {
  /** How long a statement may take; null for as long as it takes. */
  readonly statementTimeout: number | null;
  /** How long a connection is used at most; some end a tenth earlier. */
  readonly connectionLifetime: number;
  readonly timer: Timer;
}

export interface PoolOptions {
  /** Makes the pool, at the first statement. */
  readonly open: () => Promise<Pool>;
  /** Whether the server says that the statement was wrong: it did nothing, and nothing is wrong with the connection. */
  readonly isStatementError: (error: unknown) => boolean;
  readonly limits: PoolLimits;
}

/** An engine on a server's connections: each statement or transaction has one for itself. */
export function createPoolEngine({ open, isStatementError, limits }: PoolOptions): Engine {
  const { connectionLifetime, timer } = limits;
  let pool: Promise<Pool> | null = null;
  let closed = false;
  /** When each connection has been used for long enough, by the timer. */
  const replacedAt = new WeakMap<object, number>();

  /** Connections are replaced: behind the address there may be another server by now, and a former primary may still answer. */
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

  async function lend(): Promise<LentConnection> {
    if (closed) throw new Error('The database is closed');
    // A driver that could not be loaded may be there the next time.
    pool ??= open().catch((error: unknown) => {
      pool = null;
      throw error;
    });
    return new LentConnection(await connect(await pool), isStatementError);
  }

  async function begin(): Promise<LentConnection> {
    const connection = await lend();
    try {
      await connection.begin();
      return connection;
    } catch (error) {
      connection.release();
      throw error;
    }
  }

  return {
    async execute(sql, parameters, onUnknown) {
      const connection = await lend();
      try {
        return await connection.execute(sql, parameters);
      } catch (error) {
        // The statement was sent, and what failed is not what the server says of it.
        if (!isStatementError(error)) onUnknown?.();
        throw error;
      } finally {
        connection.release();
      }
    },
    readTogether: (work) => work(),
    async transaction(work) {
      // A connection is taken with the first statement: work that waits for something before that holds none.
      let begun = null as Promise<LentConnection> | null;
      const connection: EngineConnection = {
        execute: async (sql, parameters) => (await (begun ??= begin())).execute(sql, parameters),
      };
      try {
        const result = await work(connection);
        await (await begun)?.commit();
        return result;
      } catch (error) {
        // The first error is the one to report.
        await begun?.then((lent) => lent.rollback()).catch(() => {});
        throw error;
      } finally {
        await begun?.then(
          (lent) => lent.release(),
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

/**
 * A connection for one statement or transaction. Where something other than a statement failed, it is in an unknown state,
 * perhaps in the middle of a transaction that the next BEGIN would commit: it is not used again.
 */
class LentConnection implements EngineConnection {
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

  async execute(sql: string, parameters: readonly SqlParameter[]): Promise<StatementResult> {
    refuseTransactionControl(sql);
    this.#refuseWhenUndone();
    return this.#watched(this.#connection.execute(sql, parameters));
  }

  async begin(): Promise<void> {
    await this.#watched(this.#connection.begin());
    this.#inTransaction = true;
  }

  async commit(): Promise<void> {
    this.#refuseWhenUndone();
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

  #refuseWhenUndone(): void {
    if (this.#undone !== null) throw this.#undone.error;
  }

  async #watched<T>(statement: Promise<T>): Promise<T> {
    try {
      return await statement;
    } catch (error) {
      // A primary that another one took over from reports that as an error of the statement.
      this.#broken ||= !this.#isStatementError(error) || isUnavailable(error);
      if (this.#inTransaction && (this.#broken || isWorthRetrying(error))) this.#undone ??= { error };
      throw error;
    }
  }
}
