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
 * Runs the work of a transaction. Its statements run without interruption, in a batch with other
 * writes.
 *
 * If the work waits for anything except its statements, the transaction is set aside: its changes
 * are rolled back, so that it does not delay other writes. When the work runs its next statement or
 * ends, the earlier steps are repeated in another batch. If a step then has a different outcome,
 * another transaction has changed the data. The transaction fails with a conflict and must start
 * again.
 */
export class Steps implements EngineConnection {
  readonly #work: (connection: EngineConnection) => Promise<unknown>;
  /** Executes a statement in the open batch. Null outside a batch. */
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
   * Starts or continues the work in an open batch. First repeats the earlier steps, and throws if
   * one of them has a different outcome. Returns how the work ended. Returns null if the work still
   * waits for something other than its statements at the end of this turn.
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

  /**
   * Calls `onReady` when the work runs a statement or ends, because a batch can then continue the
   * work.
   */
  whenReady(onReady: () => void): void {
    this.#onReady = onReady;
    if (this.#pending.length > 0) this.#wake();
    else void this.#working?.then(() => this.#wake());
  }

  /**
   * Ends a failed transaction. Rejects all pending and future statements of the transaction with
   * this error.
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
        throw conflict(
          'Another transaction changed the data that this transaction had read, while this ' +
            'transaction waited for other work',
        );
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

/** Returns whether the work would see the same outcome from the repeated step. */
function isRepeated({ sql, outcome: before }: Step, now: StepOutcome): boolean {
  if ('error' in before || 'error' in now) {
    return 'error' in before && 'error' in now && String(before.error) === String(now.error);
  }
  const [one, other] = [before.result, now.result];
  // Compare counts only for writes. For other statements, SQLite reports the count of an earlier
  // statement.
  if (one.affected !== other.affected && WRITES.test(sql)) return false;
  if (one instanceof InsertResult && !one.becomes(other)) return false;
  return isDeepStrictEqual(one.rows, other.rows);
}

const WRITES = /\b(?:INSERT|REPLACE|UPDATE|DELETE)\b/i;
