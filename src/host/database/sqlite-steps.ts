import { isDeepStrictEqual } from 'node:util';
import type { EngineConnection, StatementResult } from './engine.ts';
import { conflict } from './sqlite-failures.ts';

export type Settled = { readonly answer: unknown } | { readonly error: unknown };

type Run = (sql: string, parameters: readonly unknown[]) => StatementResult;

interface Step {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly outcome: { readonly result: StatementResult } | { readonly error: unknown };
}

interface Asked {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly resolve: (result: StatementResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The statements of a transaction's work. They are done without a break, in a batch that others are in. Work that waits for
 * anything else is set aside: what it did is undone, and holds up nobody; with its next statement, or at its end, the steps
 * before are done again in another batch. The work knows nothing of that, since every answer must be what it was; where one
 * is not, others have changed what it built on, and it fails as one that must be begun anew.
 */
export class Steps implements EngineConnection {
  readonly #work: (connection: EngineConnection) => Promise<unknown>;
  /** Executes in the open batch; null while none is open for it. */
  #run: Run | null = null;
  #working: Promise<Settled> | null = null;
  readonly #done: Step[] = [];
  #asked: Asked[] = [];
  #goOn: (() => void) | null = null;
  #refusal: { readonly error: unknown } | null = null;

  constructor(work: (connection: EngineConnection) => Promise<unknown>) {
    this.#work = work;
  }

  async execute(sql: string, parameters: readonly unknown[]): Promise<StatementResult> {
    if (this.#refusal !== null) throw this.#refusal.error;
    if (this.#run !== null) return this.#do(this.#run, sql, parameters);
    return new Promise((resolve, reject) => {
      this.#asked.push({ sql, parameters, resolve, reject });
      this.#wake();
    });
  }

  /** In an open batch: what the work came to; null when it waits for anything but its statements at the end of this turn. */
  async proceed(run: Run, endOfTurn: Promise<null>): Promise<Settled | null> {
    this.#doAgain(run);
    this.#run = run;
    try {
      this.#working ??= settledOf(this.#work(this));
      for (const asked of this.#asked.splice(0)) {
        try {
          asked.resolve(this.#do(run, asked.sql, asked.parameters));
        } catch (error) {
          asked.reject(error);
        }
      }
      return await Promise.race([this.#working, endOfTurn]);
    } finally {
      this.#run = null;
    }
  }

  /** Says when there is something to do in a batch: a statement, or the end. */
  whenItGoesOn(goOn: () => void): void {
    this.#goOn = goOn;
    if (this.#asked.length > 0) this.#wake();
    else void this.#working?.then(() => this.#wake());
  }

  /** It failed, whatever its work goes on to do: every statement that is asked for, or will be, is answered with that. */
  giveUp(error: unknown): void {
    this.#refusal ??= { error };
    for (const { reject } of this.#asked.splice(0)) reject(error);
  }

  #wake(): void {
    const goOn = this.#goOn;
    this.#goOn = null;
    goOn?.();
  }

  #do(run: Run, sql: string, parameters: readonly unknown[]): StatementResult {
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

  #doAgain(run: Run): void {
    for (const { sql, parameters, outcome } of this.#done) {
      if (
        isSame(
          outcome,
          outcomeOf(() => run(sql, parameters)),
          sql,
        )
      )
        continue;
      throw conflict('What the transaction had read was changed while it waited for something else');
    }
  }
}

function settledOf(work: Promise<unknown>): Promise<Settled> {
  return work.then(
    (answer) => ({ answer }),
    (error: unknown) => ({ error }),
  );
}

function outcomeOf(execute: () => StatementResult): Step['outcome'] {
  try {
    return { result: execute() };
  } catch (error) {
    return { error };
  }
}

function isSame(before: Step['outcome'], now: Step['outcome'], sql: string): boolean {
  if ('error' in before || 'error' in now) {
    return 'error' in before && 'error' in now && String(before.error) === String(now.error);
  }
  const [one, other] = [before.result, now.result];
  // Of what changes no rows SQLite tells the number that the statement before it changed.
  const sameNumber = one.affected === other.affected || !WRITES.test(sql);
  // The number of an inserted row is told to nobody but by RETURNING.
  return sameNumber && isDeepStrictEqual(one.rows, other.rows);
}

const WRITES = /\b(?:INSERT|REPLACE|UPDATE|DELETE)\b/i;
