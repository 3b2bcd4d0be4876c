import { AsyncLocalStorage } from 'node:async_hooks';
import type { Timer } from '../contracts.ts';
import { TransactionError } from '../errors.ts';
import type { EngineConnection, StatementResult } from './engine.ts';

/** For how long a transaction may go on, in milliseconds; null for as long as it takes. */
export interface TransactionLimits {
  readonly duration: number | null;
  /** For how long it may wait for anything but its statements, once it has begun with them. */
  readonly idle: number | null;
  readonly timer: Timer;
}

/** The transaction that the code at hand is the work of. */
const inside = new AsyncLocalStorage<OpenTransaction>();

function living(open: OpenTransaction | undefined): OpenTransaction | undefined {
  let found = open;
  while (found?.hasEnded === true) found = found.outer;
  return found;
}

/** Why this store must not be asked now: it would wait for the end of a transaction that waits for the answer. */
export function refusalInside(store: object): TransactionError | null {
  for (let open = inside.getStore(); open !== undefined; open = open.outer) {
    if (open.store === store && !open.hasEnded) return new TransactionError('inside');
  }
  return null;
}

/**
 * What a transaction's work is given to execute statements with. It refuses after the end, which waits for what is under
 * way: the connection may be somebody else's then.
 */
export class OpenTransaction implements EngineConnection {
  readonly store: object;
  readonly #connection: EngineConnection;
  /** What this one is inside of, on another store. One that has ended, and whatever that was inside of, is let go. */
  readonly outer = living(inside.getStore());
  readonly #limits: TransactionLimits;
  readonly #since: number;
  #ended: 'ended' | 'idle' | 'late' | null = null;
  /** Statements that are not answered yet. */
  #underWay = 0;
  /** Since when there has been no statement; null before the first, when it holds nothing that others wait for. */
  #idleSince: number | null = null;
  #allAnswered: (() => void) | null = null;
  /** What a statement that the work did not wait for came to. */
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

  async execute(sql: string, parameters: readonly unknown[]): Promise<StatementResult> {
    this.refuseAfterEnd();
    this.#underWay += 1;
    try {
      return await this.#connection.execute(sql, parameters);
    } catch (error) {
      if (this.#ended !== null) this.#failed ??= { error };
      throw error;
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) {
        this.#idleSince = this.#limits.timer.now();
        this.#allAnswered?.();
      }
    }
  }

  /** Does the work, and ends: nothing is executed any more when this is settled. */
  async run<T>(work: (connection: EngineConnection) => Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>();
    let answer: T;
    try {
      this.watch(() => late.reject(new TransactionError(this.#ended ?? 'late')));
      answer = await Promise.race([inside.run(this, () => work(this)), late.promise]);
    } finally {
      await this.end();
    }
    if (this.#failed !== null) throw this.#failed.error;
    return answer;
  }

  /** For work that is begun elsewhere: whatever the caller does from here on, it does inside. */
  enter(): void {
    inside.enterWith(this);
  }

  /** Ends it and says so when it has gone on for too long. */
  watch(tellLate: () => void): void {
    const { duration, idle, timer } = this.#limits;
    if (duration === null || idle === null) return;
    const look = () => {
      const now = timer.now();
      const left = this.#since + duration - now;
      const patience = this.#underWay > 0 || this.#idleSince === null ? idle : this.#idleSince + idle - now;
      if (left > 0 && patience > 0) {
        this.#stopWatching = timer.after(Math.min(left, patience), look);
        return;
      }
      this.#ended ??= left > 0 ? 'idle' : 'late';
      tellLate();
    };
    this.#stopWatching = timer.after(Math.min(duration, idle), look);
  }

  /** From now on it refuses; settled when the last statement is answered. */
  async end(): Promise<void> {
    this.#ended ??= 'ended';
    this.#stopWatching?.();
    if (this.#underWay > 0) await new Promise<void>((resolve) => (this.#allAnswered = resolve));
  }

  refuseAfterEnd(): void {
    if (this.#ended !== null) throw new TransactionError(this.#ended);
  }
}
