import type { SqlParameter } from './contract.ts';
import type { EngineConnection, StatementResult } from './engine.ts';
import { TransactionError } from './errors.ts';
import { isWorthRetrying } from './failures.ts';
import { refuseTransactionControl, runsCode } from './transaction-control.ts';

/** A connection from a server's pool. */
export interface PooledConnection extends EngineConnection {
  /** Starts a READ COMMITTED transaction. Does not rely on the server's default isolation level. */
  begin(): Promise<unknown>;
  commit(): Promise<unknown>;
  /**
   * Returns whether no transaction is open on the connection. The application may have left a
   * transaction open. Returns null if this is unknown.
   */
  isIdle(): boolean | null;
  /** Asks the server whether a transaction is open. `isIdle` then returns the answer. */
  askStatus(): Promise<unknown>;
  /** Returns the connection to the pool. A broken connection is closed instead. */
  release(broken: boolean): void;
}

/**
 * Replaces the stack of a driver's error, so that the stack shows Portico's caller and not the
 * socket's code.
 */
export function leadToCaller(error: unknown): void {
  if (error instanceof Error) Error.captureStackTrace(error, leadToCaller);
}

/** A connection from a server's pool while one transaction uses it. */
export class LentConnection implements EngineConnection {
  readonly #connection: PooledConnection;
  readonly #breaks: (error: unknown) => boolean;
  readonly #giveBack: (connection: PooledConnection, broken: boolean) => void;
  #broken = false;
  #inTransaction = false;
  /**
   * Whether the server still runs the transaction. On MySQL, a schema change ends it, and
   * migrations continue without one.
   */
  #isOpen = false;
  /**
   * Resolves after the last statement that runs the application's code. Later statements wait for
   * it, because it may end the transaction. Null before the first such statement.
   */
  #running: Promise<unknown> | null = null;
  /**
   * The error that rolled back the open transaction. Later statements are rejected with this error.
   * Otherwise, MySQL would commit each statement after a deadlock separately.
   */
  #undone: { readonly error: unknown } | null = null;

  /** `breaks` returns whether the connection must not be used again after an error. */
  constructor(
    connection: PooledConnection,
    breaks: (error: unknown) => boolean,
    giveBack: (connection: PooledConnection, broken: boolean) => void,
  ) {
    this.#connection = connection;
    this.#breaks = breaks;
    this.#giveBack = giveBack;
  }

  async execute(sql: string, parameters: readonly SqlParameter[]): Promise<StatementResult> {
    refuseTransactionControl(sql);
    // Check again after each wait, because several statements can wait for the same statement.
    for (let ended: unknown = null; ended !== this.#running; await ended) ended = this.#running;
    this.#refuseWhenUndone();
    const statement = this.#watched(this.#connection.execute(sql, parameters));
    if (this.#isOpen && runsCode(sql)) {
      const checked = this.#requireOpen(statement);
      this.#running = Promise.allSettled([checked]);
      return checked;
    }
    try {
      return await statement;
    } catch (error) {
      await this.#askAfterFailure();
      throw error;
    } finally {
      this.#isOpen &&= this.#connection.isIdle() !== true;
    }
  }

  /**
   * On MySQL, a schema change ends the transaction even if it fails. The server does not report the
   * status together with an error.
   */
  async #askAfterFailure(): Promise<void> {
    if (!this.#isOpen || this.#undone !== null || this.#connection.isIdle() !== null) return;
    await this.#watched(this.#connection.askStatus()).catch(() => {});
  }

  async begin(): Promise<void> {
    await this.#watched(this.#connection.begin());
    this.#inTransaction = true;
    this.#isOpen = this.#connection.isIdle() !== true;
  }

  /**
   * Commits the transaction. Calls `onFailed` only if the commit was sent and failed. Does not
   * commit after a rollback.
   */
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

  /**
   * Waits for a statement that runs the application's code. If the code has ended the transaction,
   * rejects this and all later statements. Otherwise, MySQL would commit each of them separately.
   */
  async #requireOpen<T>(statement: Promise<T>): Promise<T> {
    const [outcome] = await Promise.allSettled([statement]);
    // MySQL does not report the status together with an error.
    if (outcome.status === 'rejected' && !this.#broken)
      await this.#watched(this.#connection.askStatus());
    if (this.#connection.isIdle() === true) {
      const options = outcome.status === 'rejected' ? { cause: outcome.reason as unknown } : {};
      this.#undone ??= { error: new TransactionError('procedure', options) };
    }
    this.#refuseWhenUndone();
    return statement;
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
      if (this.#inTransaction && (this.#broken || isWorthRetrying(error)))
        this.#undone ??= { error };
      throw error;
    }
  }
}
