import type { SqlParameter } from '../../sql/contract.ts';
import type { Timer } from '../contracts.ts';
import type { Engine, EngineConnection, StatementResult } from './engine.ts';
import { foreignTransaction, isFoundUndone, isReadOnly, isUnavailable, isWorthRetrying } from './failures.ts';
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

export interface PooledConnection extends EngineConnection {
  /** Begins a transaction at READ COMMITTED, whatever the server's default. */
  begin(): Promise<unknown>;
  commit(): Promise<unknown>;
  /** False when a transaction is open on it, as one that somebody began before it was given out; null when that is not known. */
  isIdle(): boolean | null;
  /** Gives it back to the pool, or gives it up. */
  release(broken: boolean): void;
}

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
export function createPoolEngine(options: PoolOptions): Engine {
  const { isStatementError, limits } = options;
  const { connectionLifetime, timer } = limits;
  let opening: Promise<Pool> | null = null;
  let opened: Pool | null = null;
  let closed = false;
  let used = 0;
  let waiting = 0;
  /** How often the server turned out to be one that may only be read from. */
  let generation = 0;
  /** Until when each connection is used, by the timer, and which generation it is of. */
  const uses = new WeakMap<PooledConnection, { readonly until: number; readonly generation: number }>();

  async function open(): Promise<Pool> {
    // A driver that could not be loaded may be there the next time.
    opening ??= options.open().catch((error: unknown) => {
      opening = null;
      throw error;
    });
    return (opened = await opening);
  }

  /** Connections are replaced: behind the address there may be another server by now, and a former primary may still answer. */
  async function lend(): Promise<PooledConnection> {
    if (closed) throw new Error('The database is closed');
    const pool = opened ?? (await open());
    for (;;) {
      const connection = await taken(pool);
      if (connectionLifetime === null) return connection;
      const now = timer.now();
      const use = uses.get(connection);
      if (use === undefined) {
        // Connections that were made together, as after an outage, do not all end together.
        const until = now + connectionLifetime * (0.9 + Math.random() * 0.1);
        uses.set(connection, { until, generation });
        return connection;
      }
      if (now < use.until && use.generation === generation) return connection;
      giveBack(connection, true);
    }
  }

  async function taken(pool: Pool): Promise<PooledConnection> {
    waiting += 1;
    try {
      const connection = await pool.connect();
      used += 1;
      return connection;
    } finally {
      waiting -= 1;
    }
  }

  function giveBack(connection: PooledConnection, broken: boolean): void {
    used -= 1;
    connection.release(broken);
  }

  /**
   * Where something other than a statement failed, the connection is in an unknown state, perhaps in the middle of a transaction that
   * the next BEGIN would commit: it is not used again. A primary that another one took over from reports that as an error of the
   * statement, and what was connected to it before leads nowhere else.
   */
  function breaks(error: unknown): boolean {
    if (isReadOnly(error)) generation += 1;
    return !isStatementError(error) || isUnavailable(error);
  }

  /** Whether nobody knows what became of what was sent: what failed is not what the server says of it. */
  function tellsNothing(error: unknown): boolean {
    return !isStatementError(error) && !isFoundUndone(error);
  }

  /** A commit that an administrator ended, or a server on its way out, may have happened all the same. */
  function commit(connection: LentConnection, onUnknown: (() => void) | undefined): Promise<void> {
    return connection.commit((error) => {
      if (tellsNothing(error) || isUnavailable(error)) onUnknown?.();
    });
  }

  async function begin(): Promise<LentConnection> {
    const connection = new LentConnection(await lend(), { breaks, giveBack });
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

  return {
    async execute(sql, parameters, onUnknown) {
      refuseTransactionControl(sql);
      const connection = await lend();
      let broken = false;
      try {
        const result = await connection.execute(sql, parameters);
        if (connection.isIdle() === false) throw foreignTransaction();
        return result;
      } catch (error) {
        broken = breaks(error);
        leadToCaller(error);
        if (tellsNothing(error)) onUnknown?.();
        throw error;
      } finally {
        giveBack(connection, broken);
      }
    },
    endReads() {},
    connections: () => ({ used, waiting, ...(opened?.figures?.() ?? UNTOLD) }),
    async transaction(work, onUnknown) {
      // A connection is taken with the first statement: work that waits for something before that holds none.
      let begun = null as Promise<LentConnection> | null;
      const connection: EngineConnection = {
        execute: async (sql, parameters) => (await (begun ??= begin())).execute(sql, parameters),
      };
      try {
        const result = await work(connection);
        if (begun !== null) await commit(await begun, onUnknown);
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
      const pool = await opening?.catch(() => null);
      opening = opened = null;
      await pool?.end();
    },
  };
}

const UNTOLD: PoolFigures = { idle: 0, most: null };

/** The stack that a driver gives leads to its socket, and not to who asked. */
function leadToCaller(error: unknown): void {
  if (error instanceof Error) Error.captureStackTrace(error, leadToCaller);
}

interface LentOptions {
  /** Whether nothing may run on the connection any more after this error. */
  readonly breaks: (error: unknown) => boolean;
  readonly giveBack: (connection: PooledConnection, broken: boolean) => void;
}

/** A connection for one transaction. */
class LentConnection implements EngineConnection {
  readonly #connection: PooledConnection;
  readonly #breaks: LentOptions['breaks'];
  readonly #giveBack: LentOptions['giveBack'];
  #broken = false;
  #inTransaction = false;
  /** What undid the open transaction: on MySQL, every statement that came after a deadlock would commit by itself. */
  #undone: { readonly error: unknown } | null = null;

  constructor(connection: PooledConnection, { breaks, giveBack }: LentOptions) {
    this.#connection = connection;
    this.#breaks = breaks;
    this.#giveBack = giveBack;
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

  /** `onFailed` hears how a commit failed that was sent: what is undone is not committed. */
  async commit(onFailed: (error: unknown) => void): Promise<void> {
    this.#refuseWhenUndone();
    try {
      await this.#watched(this.#connection.commit());
    } catch (error) {
      onFailed(error);
      throw error;
    }
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
    this.#giveBack(this.#connection, this.#broken);
  }

  #refuseWhenUndone(): void {
    if (this.#undone !== null) throw this.#undone.error;
  }

  async #watched<T>(statement: Promise<T>): Promise<T> {
    try {
      return await statement;
    } catch (error) {
      this.#broken ||= this.#breaks(error);
      leadToCaller(error);
      if (this.#inTransaction && (this.#broken || isWorthRetrying(error))) this.#undone ??= { error };
      throw error;
    }
  }
}
