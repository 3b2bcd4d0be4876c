import type { SqlParameter } from './contract.ts';
import type { EngineConnection, StatementResult } from './engine.ts';
import { isWorthRetrying } from './failures.ts';
import { refuseTransactionControl } from './transaction-control.ts';

/** A connection of a server's pool. */
export interface PooledConnection extends EngineConnection {
  /** Begins a transaction at READ COMMITTED, whatever the server's default. */
  begin(): Promise<unknown>;
  commit(): Promise<unknown>;
  /** False when a transaction is open on it, as one that somebody began before it was given out; null when that is not known. */
  isIdle(): boolean | null;
  /** Gives it back to the pool, or gives it up. */
  release(broken: boolean): void;
}

/** The stack that a driver gives leads to its socket, and not to the caller. */
export function leadToCaller(error: unknown): void {
  if (error instanceof Error) Error.captureStackTrace(error, leadToCaller);
}

interface LentOptions {
  /** Whether nothing may run on the connection any more after this error. */
  readonly breaks: (error: unknown) => boolean;
  readonly giveBack: (connection: PooledConnection, broken: boolean) => void;
}

/** A connection for one transaction. */
export class LentConnection implements EngineConnection {
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
