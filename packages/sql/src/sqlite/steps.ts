import { isDeepStrictEqual } from 'node:util';
import type { SqlParameter } from '../contract.ts';
import type { EngineConnection, StatementResult } from '../engine.ts';
import { conflict } from './failures.ts';
import { InsertResult } from './statements.ts';

/** How the work of a transaction ended. */
export type Outcome = { readonly result: unknown } | { readonly error: unknown };

type Run = (sql: string, parameters: readonly SqlParameter[]) => StatementResult;

type StepOutcome = { readonly result: StatementResult } | { readonly error: unknown };

interface Step {
  readonly sql: string;
  readonly parameters: readonly SqlParameter[];
  readonly outcome: StepOutcome;
}

/** A statement that waits for the next batch. */
interface PendingStatement {
  readonly sql: string;
  readonly parameters: readonly SqlParameter[];
  readonly resolve: (result: StatementResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The statements of a transaction's work. They run without a break, in a batch with other writes.
 * Work that waits for anything else is set aside: its changes are undone, so that it delays no
 * other write. At its next statement, or at its end, its steps repeat in another batch. Each step
 * must have the same outcome as before, because the work has relied on it. If one differs, others
 * have changed the data, and the transaction fails as one that must start again.
 */
export class Steps implements EngineConnection {
  readonly #work: (connection: EngineConnection) => Promise<unknown>;
  /** Executes in the open batch. Null outside a batch. */
  #run: Run | null = null;
  #working: Promise<Outcome> | null = null;
  readonly #done: Step[] = [];
  #pending: PendingStatement[] = [];
  #onReady: (() => void) | null = null;
  #refusal: { readonly error: unknown } | null = null;

  constructor(work: (connection: EngineConnection) => Promise<unknown>) {
    this.#work = work;
  }

  async execute(sql: string, parameters: readonly SqlParameter[]): Promise<StatementResult> {
    if (this.#refusal !== null) throw this.#refusal.error;
    if (this.#run !== null) return this.#do(this.#run, sql, parameters);
    return new Promise((resolve, reject) => {
      this.#pending.push({ sql, parameters, resolve, reject });
      this.#wake();
    });
  }

  /**
   * Continues in an open batch. Returns how the work ended, or null if it is waiting for anything
   * except its statements at the end of this turn.
   */
  async proceed(run: Run, endOfTurn: Promise<null>): Promise<Outcome | null> {
    this.#repeat(run);
    this.#run = run;
    try {
      this.#working ??= toOutcome(this.#work(this));
      for (const { sql, parameters, resolve, reject } of this.#pending.splice(0)) {
        try {
          resolve(this.#do(run, sql, parameters));
        } catch (error) {
          reject(error);
        }
      }
      return await Promise.race([this.#working, endOfTurn]);
    } finally {
      this.#run = null;
    }
  }

  /** Calls `onReady` when there is something to do in a batch: a statement, or the end. */
  whenReady(onReady: () => void): void {
    this.#onReady = onReady;
    if (this.#pending.length > 0) this.#wake();
    else void this.#working?.then(() => this.#wake());
  }

  /**
   * The transaction has failed: rejects every pending and future statement of its work with this
   * error.
   */
  giveUp(error: unknown): void {
    this.#refusal ??= { error };
    for (const { reject } of this.#pending.splice(0)) reject(error);
  }

  #wake(): void {
    const onReady = this.#onReady;
    this.#onReady = null;
    onReady?.();
  }

  #do(run: Run, sql: string, parameters: readonly SqlParameter[]): StatementResult {
    const step = { sql, parameters: [...parameters] };
    try {
      const result = run(sql, parameters);
      this.#done.push({ ...step, outcome: { result } });
      return result;
    } catch (error) {
      this.#done.push({ ...step, outcome: { error } });
      throw error;
    }
  }

  #repeat(run: Run): void {
    for (const step of this.#done) {
      if (!isRepeated(step, tryStep(run, step)))
        throw conflict('What the transaction had read was changed while it waited for something else');
    }
  }
}

function toOutcome(work: Promise<unknown>): Promise<Outcome> {
  return work.then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  );
}

function tryStep(run: Run, { sql, parameters }: Step): StepOutcome {
  try {
    return { result: run(sql, parameters) };
  } catch (error) {
    return { error };
  }
}

/** Whether the work could have continued from this outcome as from the earlier one. */
function isRepeated({ sql, outcome: before }: Step, now: StepOutcome): boolean {
  if ('error' in before || 'error' in now) {
    return 'error' in before && 'error' in now && String(before.error) === String(now.error);
  }
  const [one, other] = [before.result, now.result];
  // After a statement that changes no rows, SQLite reports the count of the statement before it.
  if (one.affected !== other.affected && WRITES.test(sql)) return false;
  if (one instanceof InsertResult && !one.becomes(other)) return false;
  return isDeepStrictEqual(one.rows, other.rows);
}

const WRITES = /\b(?:INSERT|REPLACE|UPDATE|DELETE)\b/i;
