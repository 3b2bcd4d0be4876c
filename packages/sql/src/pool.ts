import type { DatabaseConnections, Timer } from './opened.ts';
import type { SqlParameter } from './contract.ts';
import type { Engine, EngineConnection, StatementResult } from './engine.ts';
import { foreignTransaction, isFoundUndone, isReadOnly, isUnavailable } from './failures.ts';
import { leadToCaller, LentConnection, type PooledConnection } from './lent-connection.ts';
import {
  isShareable,
  SharedReads,
  type Read,
  type SharedAnswer,
  type WaitingRead,
} from './shared-reads.ts';
import { readsTogether } from './together.ts';
import { refuseTransactionControl } from './transaction-control.ts';

/** The connections to one or several database servers. */
export interface Pool {
  /**
   * Takes a connection. If connections have a lifetime, returns the same object each time it takes
   * the same connection.
   */
  connect(): Promise<PooledConnection>;
  end(): Promise<void>;
  /** Returns the driver's connection counts. Missing if the driver does not report them. */
  readonly figures?: () => PoolFigures;
}

/** A pool's connection counts. A count is null if the driver does not report it. */
export interface PoolFigures {
  /** The number of open connections that are not in use. */
  readonly idle: number | null;
  /** The maximum number of connections. */
  readonly most: number | null;
}

export type { PooledConnection };

/**
 * Runs reads of several callers in one round trip to the server. Rejects if the connection failed.
 */
export type ReadTogether = (
  connection: PooledConnection,
  reads: readonly Read[],
) => Promise<SharedAnswer>;

/** Time limits, in milliseconds. */
export interface PoolLimits {
  /** How long a statement may take. Null if there is no limit. */
  readonly statementTimeout: number | null;
  /**
   * How long a transaction may wait for anything except its statements. Null if there is no limit.
   */
  readonly idleTimeout: number | null;
  /**
   * How long a connection is used. Some connections end up to 10% earlier. If null, the pool
   * decides.
   */
  readonly connectionLifetime: number | null;
  readonly timer: Timer;
}

/**
 * Returns the value if it is a number, and null otherwise. Use this function for properties that
 * the driver's types do not declare.
 */
export function numberOrNull(found: unknown): number | null {
  return typeof found === 'number' ? found : null;
}

/**
 * How much longer this process waits for a statement than the server does, in milliseconds. If this
 * process stopped waiting first, it would not know whether the statement took effect.
 */
export const LONGER_THAN_THE_SERVER = 1000;

/**
 * A database engine with a pool of connections to a database server. Each transaction, and each
 * statement outside a transaction, uses a separate connection. Only reads that are sent together
 * share one.
 */
export class PoolEngine implements Engine {
  readonly #openPool: () => Promise<Pool>;
  readonly #isStatementError: (error: unknown) => boolean;
  readonly #limits: PoolLimits;
  /** Combines the reads of several callers. Null if each read is sent separately. */
  readonly #reads: SharedReads | null;
  #opening: Promise<Pool> | null = null;
  #opened: Pool | null = null;
  #closed = false;
  #used = 0;
  #waiting = 0;
  /** How many times Portico has found that a server is read-only. */
  #generation = 0;
  /**
   * Until when each connection may be used, and the value of `#generation` when it was first used.
   */
  readonly #uses = new WeakMap<
    PooledConnection,
    { readonly until: number; readonly generation: number }
  >();

  /**
   * `open` creates the pool. It is called at the first statement. `isStatementError` returns
   * whether the server rejected the statement. If so, the statement did nothing, and the connection
   * is still usable. `readTogether` is for an engine that can send several reads in one round trip.
   */
  constructor(
    open: () => Promise<Pool>,
    isStatementError: (error: unknown) => boolean,
    limits: PoolLimits,
    readTogether: ReadTogether | null = null,
  ) {
    this.#openPool = open;
    this.#isStatementError = isStatementError;
    this.#limits = limits;
    this.#reads =
      readTogether === null
        ? null
        : new SharedReads((reads) => void this.#share(reads, readTogether));
  }

  execute(
    sql: string,
    parameters: readonly SqlParameter[],
    onUnknown?: () => void,
  ): Promise<StatementResult> {
    const reads = readsTogether() === null ? null : this.#reads;
    return onUnknown === undefined && reads !== null && isShareable({ sql, parameters })
      ? reads.execute({ sql, parameters })
      : this.#executeAlone(sql, parameters, onUnknown);
  }

  async #executeAlone(
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

  /**
   * Runs the reads in one round trip. If a read fails, only its caller receives the error. The
   * other reads had no effect, so each of them runs again separately. If the connection fails, all
   * callers receive the error.
   */
  async #share(reads: readonly WaitingRead[], readTogether: ReadTogether): Promise<void> {
    const readAlone = ({ sql, parameters, resolve, reject }: WaitingRead) =>
      void this.#executeAlone(sql, parameters).then(resolve, reject);
    if (reads.length === 1) {
      reads.forEach(readAlone);
      return;
    }
    try {
      const answer = await this.#ask(reads, readTogether);
      for (const [index, read] of reads.entries()) {
        if ('results' in answer) read.resolve(answer.results[index] as StatementResult);
        else if (index === answer.failed) read.reject(answer.error);
        else readAlone(read);
      }
    } catch (error) {
      for (const { reject } of reads) reject(error);
    }
  }

  async #ask(reads: readonly Read[], readTogether: ReadTogether): Promise<SharedAnswer> {
    const connection = await this.#lend();
    let broken = false;
    try {
      const answer = await readTogether(connection, reads);
      if ('error' in answer) {
        broken = this.#breaks(answer.error);
        leadToCaller(answer.error);
      } else if (connection.isIdle() === false) throw foreignTransaction();
      return answer;
    } catch (error) {
      broken = this.#breaks(error);
      leadToCaller(error);
      throw error;
    } finally {
      this.#giveBack(connection, broken);
    }
  }

  async transaction<T>(
    work: (connection: EngineConnection) => Promise<T>,
    onUnknown?: () => void,
  ): Promise<T> {
    // Take the connection at the first statement. Until then, the work does not need it.
    let begun = null as Promise<LentConnection> | null;
    const connection: EngineConnection = {
      execute: async (sql, parameters) =>
        (await (begun ??= this.#begin())).execute(sql, parameters),
    };
    try {
      const result = await work(connection);
      if (begun !== null) await this.#commit(await begun, onUnknown);
      return result;
    } catch (error) {
      // Report the first error, not an error of the rollback.
      await begun?.then((lent) => lent.rollback()).catch(() => {});
      throw error;
    } finally {
      await begun?.then(
        (lent) => lent.release(),
        () => {},
      );
    }
  }

  /** Does nothing, because on a server no transaction stays open after a read. */
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
    // If the driver cannot be loaded, try again at the next call, because it may be installed by
    // then.
    this.#opening ??= this.#openPool().catch((error: unknown) => {
      this.#opening = null;
      throw error;
    });
    return (this.#opened = await this.#opening);
  }

  /**
   * Takes a connection from the pool. Replaces a connection whose lifetime has ended, or that was
   * opened before a server was found to be read-only. By then, the address may belong to another
   * server, while a former primary still responds on the old connection.
   */
  async #lend(): Promise<PooledConnection> {
    if (this.#closed) throw new Error('The database is closed');
    const { connectionLifetime, timer } = this.#limits;
    const pool = this.#opened ?? (await this.#open());
    for (;;) {
      const connection = await this.#take(pool);
      if (connectionLifetime === null) return connection;
      const now = timer.now();
      const use = this.#uses.get(connection);
      if (use === undefined) {
        // Add a random time. Otherwise, connections that were created at the same time, for example
        // after an outage, would all end at the same time.
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
    const connection = new LentConnection(
      await this.#lend(),
      (error) => this.#breaks(error),
      (lent, broken) => this.#giveBack(lent, broken),
    );
    try {
      await connection.begin();
      return connection;
    } catch (error) {
      // Roll back, because `begin` may send several statements and the first may have begun the
      // transaction.
      await connection.rollback().catch(() => {});
      connection.release();
      throw error;
    }
  }

  /**
   * Commits the transaction. If an administrator or a shutdown interrupts the commit, it is unknown
   * whether the commit took effect.
   */
  #commit(connection: LentConnection, onUnknown: (() => void) | undefined): Promise<void> {
    return connection.commit((error) => {
      if (this.#tellsNothing(error) || isUnavailable(error)) onUnknown?.();
    });
  }

  /**
   * Returns whether the connection must not be used again. After an error that is not a statement
   * error, the connection's state is unknown, and the next BEGIN could commit an open transaction.
   * The connection is also closed if the error means that the store is unavailable. A read-only
   * server may be a former primary. All older connections may lead to that server, so Portico
   * replaces them too.
   */
  #breaks(error: unknown): boolean {
    if (isReadOnly(error)) this.#generation += 1;
    return !this.#isStatementError(error) || isUnavailable(error);
  }

  /**
   * Returns whether it is unknown after this error if the statement took effect, for example
   * because the connection was lost.
   */
  #tellsNothing(error: unknown): boolean {
    return !this.#isStatementError(error) && !isFoundUndone(error);
  }
}

const UNTOLD: PoolFigures = { idle: 0, most: null };
