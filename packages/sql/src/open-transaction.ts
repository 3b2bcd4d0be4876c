import { AsyncLocalStorage } from 'node:async_hooks';
import { TransactionError } from './errors.ts';
import type { Timer } from './opened.ts';
import type { SqlParameter } from './contract.ts';
import type { EngineConnection, StatementResult } from './engine.ts';

/**
 * The time limits of a transaction. `duration` is how long it may take, in milliseconds, or null if
 * there is no limit.
 */
export interface TransactionLimits {
  readonly duration: number | null;
  /**
   * How long, after its first statement, a transaction may wait for anything except its statements,
   * in milliseconds. Null if there is no limit.
   */
  readonly idle: number | null;
  readonly timer: Timer;
}

/** The transaction whose work is currently running. */
const current = new AsyncLocalStorage<OpenTransaction>();

/**
 * Returns the innermost transaction that is still open. Skips transactions that have ended, so that
 * they do not stay in memory.
 */
function innermostOpen(): OpenTransaction | undefined {
  let found = current.getStore();
  while (found?.hasEnded === true) found = found.outer;
  return found;
}

/**
 * Returns an error if a transaction of this store is open. A statement on the store itself would
 * not be part of this transaction, and the two could wait for each other. Returns null otherwise.
 */
export function refusalInside(store: object): TransactionError | null {
  for (let open = current.getStore(); open !== undefined; open = open.outer) {
    if (open.store === store && !open.hasEnded) return new TransactionError('inside');
  }
  return null;
}

/**
 * The connection for the work of a transaction. When the work ends, waits for statements that still
 * run. Later statements are rejected, because other code may already be using the underlying
 * connection.
 */
export class OpenTransaction implements EngineConnection {
  readonly store: object;
  readonly #connection: EngineConnection;
  /**
   * The open transaction of another store, if this transaction started inside that transaction's
   * work.
   */
  readonly outer = innermostOpen();
  readonly #limits: TransactionLimits;
  readonly #since: number;
  #ended: 'ended' | 'idle' | 'late' | null = null;
  /** The number of statements that are still running. */
  #inFlight = 0;
  /**
   * When the last statement ended. Null until the first statement ends, because the transaction
   * holds no locks before that.
   */
  #idleSince: number | null = null;
  #allReturned: (() => void) | null = null;
  /** The first error of a statement that was still running when the transaction ended. */
  #failed: { readonly error: unknown } | null = null;
  #stopWatching: (() => void) | null = null;

  constructor(store: object, connection: EngineConnection, limits: TransactionLimits) {
    this.store = store;
    this.#connection = connection;
    this.#limits = limits;
    this.#since = limits.timer.now();
  }

  get hasEnded(): boolean {
    return this.#ended !== null;
  }

  async execute(sql: string, parameters: readonly SqlParameter[]): Promise<StatementResult> {
    this.#refuseAfterEnd();
    this.#inFlight += 1;
    try {
      return await this.#connection.execute(sql, parameters);
    } catch (error) {
      if (this.#ended !== null) this.#failed ??= { error };
      throw error;
    } finally {
      this.#inFlight -= 1;
      if (this.#inFlight === 0) {
        this.#idleSince = this.#limits.timer.now();
        this.#allReturned?.();
      }
    }
  }

  /**
   * Runs the work and ends the transaction. When the promise settles, no statement of the
   * transaction is running.
   */
  async run<T>(work: (connection: EngineConnection) => Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    let result: T;
    try {
      this.#watch(() => late.reject(new TransactionError(this.#ended ?? 'late')));
      result = await Promise.race([current.run(this, () => work(this)), late.promise]);
    } finally {
      await this.#end();
    }
    if (this.#failed !== null) throw this.#failed.error;
    return result;
  }

  /** If the transaction takes or waits too long, ends it and calls `onLate`. */
  #watch(onLate: () => void): void {
    const { duration, idle, timer } = this.#limits;
    if (duration === null || idle === null) return;
    const check = () => {
      const now = timer.now();
      const left = this.#since + duration - now;
      const idleLeft =
        this.#inFlight > 0 || this.#idleSince === null ? idle : this.#idleSince + idle - now;
      if (left > 0 && idleLeft > 0) {
        this.#stopWatching = timer.after(Math.min(left, idleLeft), check);
        return;
      }
      this.#ended ??= left > 0 ? 'idle' : 'late';
      onLate();
    };
    this.#stopWatching = timer.after(Math.min(duration, idle), check);
  }

  /** Rejects new statements and waits for running statements. */
  async #end(): Promise<void> {
    this.#ended ??= 'ended';
    this.#stopWatching?.();
    if (this.#inFlight > 0) await new Promise<void>((resolve) => (this.#allReturned = resolve));
  }

  #refuseAfterEnd(): void {
    if (this.#ended !== null) throw new TransactionError(this.#ended);
  }
}
