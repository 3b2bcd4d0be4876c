import type { SqlParameter } from './contract.ts';
import type { EngineConnection, StatementResult } from './engine.ts';
import { isWorthRetrying } from './failures.ts';
import { refuseTransactionControl } from './transaction-control.ts';

/** A connection from a server's pool. */
export interface PooledConnection extends EngineConnection {
  /** Begins a READ COMMITTED transaction, whatever the server's default. */
  begin(): Promise<unknown>;
  commit(): Promise<unknown>;
  /**
   * Returns false when a transaction is open on the connection, such as one that the application
   * began before. Null if unknown.
   */
  isIdle(): boolean | null;
  /** Returns the connection to the pool, or drops it if it is broken. */
  release(broken: boolean): void;
}

/** Replaces a driver error's stack, so that it shows the caller instead of the socket. */
export function leadToCaller(error: unknown): void {
  if (error instanceof Error) Error.captureStackTrace(error, leadToCaller);
}

/** A connection for one transaction. */
export class LentConnection implements EngineConnection {
  readonly #connection: PooledConnection;
  readonly #breaks: (error: unknown) => boolean;
  readonly #giveBack: (connection: PooledConnection, broken: boolean) => void;
  #broken = false;
  #inTransaction = false;
  /**
   * The error that rolled back the open transaction. Kept because, on MySQL, every statement after
   * a deadlock would commit by itself.
   */
  #undone: { readonly error: unknown } | null = null;

  /** `breaks` says whether an error means that the connection must not be used again. */
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
    this.#refuseWhenUndone();
    return this.#watched(this.#connection.execute(sql, parameters));
  }

  async begin(): Promise<void> {
    await this.#watched(this.#connection.begin());
    this.#inTransaction = true;
  }

  /** Calls `onFailed` only if the commit was sent and failed. Sends no commit after a rollback. */
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
      if (this.#inTransaction && (this.#broken || isWorthRetrying(error)))
        this.#undone ??= { error };
      throw error;
    }
  }
}
