import type { DatabaseConnections, Timer } from './opened.ts';
import type { SqlParameter } from './contract.ts';
import type { Engine, EngineConnection, StatementResult } from './engine.ts';
import { foreignTransaction, isFoundUndone, isReadOnly, isUnavailable } from './failures.ts';
import { leadToCaller, LentConnection, type PooledConnection } from './lent-connection.ts';
import { refuseTransactionControl } from './transaction-control.ts';

/** A database server's connections. */
export interface Pool {
  /** The same object for the same connection, however often it is given out. */
  connect(): Promise<PooledConnection>;
  end(): Promise<void>;
  /** What the driver knows of its connections; left out where it does not tell. */
  readonly figures?: () => PoolFigures;
}

/** Each is null where the driver does not tell. */
export interface PoolFigures {
  /** Connections that are open and have nothing to do. */
  readonly idle: number | null;
  /** Connections at most. */
  readonly most: number | null;
}

export type { PooledConnection };

/** Time limits, in milliseconds. */
export interface PoolLimits {
  /** How long a statement may take; null for as long as it takes. */
  readonly statementTimeout: number | null;
  /** How long a transaction may wait for something else than its statements; null for as long as it takes. */
  readonly idleTimeout: number | null;
  /** How long a connection is used at most (some end a tenth earlier); null for as long as its pool says. */
  readonly connectionLifetime: number | null;
  readonly timer: Timer;
}

export interface PoolOptions {
  /** Makes the pool, at the first statement. */
  readonly open: () => Promise<Pool>;
  /** Whether the server says that the statement was wrong: it did nothing, and nothing is wrong with the connection. */
  readonly isStatementError: (error: unknown) => boolean;
  readonly limits: PoolLimits;
}

/** What is a number, of something that the driver's types do not know. */
export function numberOrNull(found: unknown): number | null {
  return typeof found === 'number' ? found : null;
}

/**
 * How much longer than the server this process waits for a statement, in milliseconds: what the server says is clear, and when it
 * says nothing, nobody knows whether the statement took effect.
 */
export const LONGER_THAN_THE_SERVER = 1000;

/** An engine on a server's connections: each statement or transaction has one for itself. */
export class PoolEngine implements Engine {
  readonly #options: PoolOptions;
  #opening: Promise<Pool> | null = null;
  #opened: Pool | null = null;
  #closed = false;
  #used = 0;
  #waiting = 0;
  /** How often the server turned out to be one that may only be read from. */
  #generation = 0;
  /** Until when each connection is used, by the timer, and which generation it is of. */
  readonly #uses = new WeakMap<PooledConnection, { readonly until: number; readonly generation: number }>();

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  async execute(
    sql: string,
    parameters: readonly SqlParameter[],
    onUnknown?: () => void,
  ): Promise<StatementResult> {
    refuseTransactionControl(sql);
    const connection = await this.#lend();
    let broken = false;
    try {
      const result = await connection.execute(sql, parameters);
      if (connection.isIdle() === false) throw foreignTransaction();
      return result;
    } catch (error) {
      broken = this.#breaks(error);
      leadToCaller(error);
      if (this.#tellsNothing(error)) onUnknown?.();
      throw error;
    } finally {
      this.#giveBack(connection, broken);
    }
  }

  async transaction<T>(
    work: (connection: EngineConnection) => Promise<T>,
    onUnknown?: () => void,
  ): Promise<T> {
    // A connection is taken with the first statement: work that waits for something before that holds none.
    let begun = null as Promise<LentConnection> | null;
    const connection: EngineConnection = {
      execute: async (sql, parameters) => (await (begun ??= this.#begin())).execute(sql, parameters),
    };
    try {
      const result = await work(connection);
      if (begun !== null) await this.#commit(await begun, onUnknown);
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
  }

  /** Each read is one by itself. */
  endReads(): void {}

  connections(): DatabaseConnections {
    return { used: this.#used, waiting: this.#waiting, ...(this.#opened?.figures?.() ?? UNTOLD) };
  }

  async close(): Promise<void> {
    this.#closed = true;
    const pool = await this.#opening?.catch(() => null);
    this.#opening = this.#opened = null;
    await pool?.end();
  }

  async #open(): Promise<Pool> {
    // A driver that could not be loaded may be there the next time.
    this.#opening ??= this.#options.open().catch((error: unknown) => {
      this.#opening = null;
      throw error;
    });
    return (this.#opened = await this.#opening);
  }

  /** Connections are replaced: behind the address there may be another server by now, and a former primary may still answer. */
  async #lend(): Promise<PooledConnection> {
    if (this.#closed) throw new Error('The database is closed');
    const { connectionLifetime, timer } = this.#options.limits;
    const pool = this.#opened ?? (await this.#open());
    for (;;) {
      const connection = await this.#take(pool);
      if (connectionLifetime === null) return connection;
      const now = timer.now();
      const use = this.#uses.get(connection);
      if (use === undefined) {
        // Connections that were made together, as after an outage, do not all end together.
        const until = now + connectionLifetime * (0.9 + Math.random() * 0.1);
        this.#uses.set(connection, { until, generation: this.#generation });
        return connection;
      }
      if (now < use.until && use.generation === this.#generation) return connection;
      this.#giveBack(connection, true);
    }
  }

  async #take(pool: Pool): Promise<PooledConnection> {
    this.#waiting += 1;
    try {
      const connection = await pool.connect();
      this.#used += 1;
      return connection;
    } finally {
      this.#waiting -= 1;
    }
  }

  #giveBack(connection: PooledConnection, broken: boolean): void {
    this.#used -= 1;
    connection.release(broken);
  }

  async #begin(): Promise<LentConnection> {
    const connection = new LentConnection(await this.#lend(), {
      breaks: (error) => this.#breaks(error),
      giveBack: (lent, broken) => this.#giveBack(lent, broken),
    });
    try {
      await connection.begin();
      return connection;
    } catch (error) {
      // It may consist of several statements, of which the first began it.
      await connection.rollback().catch(() => {});
      connection.release();
      throw error;
    }
  }

  /** A commit that an administrator ended, or a server on its way out, may have happened all the same. */
  #commit(connection: LentConnection, onUnknown: (() => void) | undefined): Promise<void> {
    return connection.commit((error) => {
      if (this.#tellsNothing(error) || isUnavailable(error)) onUnknown?.();
    });
  }

  /**
   * Where something other than a statement failed, the connection is in an unknown state, perhaps in the middle of a transaction that
   * the next BEGIN would commit: it is not used again. A primary that another one took over from reports that as an error of the
   * statement, and what was connected to it before leads nowhere else.
   */
  #breaks(error: unknown): boolean {
    if (isReadOnly(error)) this.#generation += 1;
    return !this.#options.isStatementError(error) || isUnavailable(error);
  }

  /** Whether nobody knows what became of what was sent: what failed is not what the server says of it. */
  #tellsNothing(error: unknown): boolean {
    return !this.#options.isStatementError(error) && !isFoundUndone(error);
  }
}

const UNTOLD: PoolFigures = { idle: 0, most: null };
