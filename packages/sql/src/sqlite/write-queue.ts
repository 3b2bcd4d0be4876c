import { setImmediate, setTimeout } from 'node:timers/promises';
import type { SqlParameter } from '../contract.ts';
import type { EngineConnection, StatementResult } from '../engine.ts';
import { busy, isSqliteBusy, isSqliteUnavailable } from './failures.ts';
import type { Statements } from './statements.ts';
import { Steps, type Outcome } from './steps.ts';
import { refuseSavepoints, refuseTransactionControl } from '../transaction-control.ts';

/** How long a statement waits for another process's write, in milliseconds. */
export const LONGEST_WAIT = 5000;
/**
 * The maximum number of writes in one transaction. They take about a millisecond, during which no
 * request is answered.
 */
const MOST_TOGETHER = 32;
/** How many turns of the event loop a batch waits for more writes. */
const MOST_TURNS = 4;
/** How many writes may wait. The next one is refused, because the store is too busy. */
const LONGEST_QUEUE = 10_000;

/**
 * What a write does. SQLite undoes a failed single statement by itself; several statements need a
 * savepoint.
 */
type Work =
  | {
      readonly kind: 'statement';
      readonly sql: string;
      readonly parameters: readonly SqlParameter[];
      /** Called when only the commit is left. */
      readonly onDone: (() => void) | undefined;
    }
  | {
      readonly kind: 'transaction';
      readonly steps: Steps;
      /** Called on a failure that may be the commit's, so that its outcome is unknown. */
      readonly onUnknown: (() => void) | undefined;
    };

/** A write that waits for its turn. */
interface Write {
  readonly work: Work;
  /** When it began to wait, in milliseconds of `performance`. */
  readonly since: number;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

let commits = 0;

/**
 * The number of commits on all connections of this process, which may share a file. A read from
 * before the last one may be outdated.
 */
export function countCommits(): number {
  return commits;
}

/**
 * Writes that arrive together commit together, in one immediate transaction with one fsync. Each
 * has its own savepoint, so a failure undoes only itself, and each is answered only after the
 * commit. The write lock is taken before the first write, so that no write reads and then loses its
 * turn to another process.
 */
export class WriteQueue {
  readonly #statements: Statements;
  readonly #endReading: () => void;
  #waiting: Write[] = [];
  #writing: Promise<void> | null = null;
  #batch: Promise<void> | null = null;
  readonly #inBatch = (sql: string, parameters: readonly SqlParameter[]): StatementResult => {
    refuseTransactionControl(sql);
    refuseSavepoints(sql);
    this.#refuseOutsideTransaction();
    return this.#statements.run(sql, parameters);
  };

  /** `endReading` ends an open read transaction on the same connection. */
  constructor(statements: Statements, endReading: () => void) {
    this.#statements = statements;
    this.#endReading = endReading;
  }

  /** Resolves when the open batch ends. Null when no batch is open. */
  get batch(): Promise<void> | null {
    return this.#batch;
  }

  /** Resolves when no write is waiting. Null when none is. */
  get writing(): Promise<void> | null {
    return this.#writing;
  }

  statement(sql: string, parameters: readonly SqlParameter[], onDone?: () => void): Promise<StatementResult> {
    refuseTransactionControl(sql);
    refuseSavepoints(sql);
    return this.#write({ kind: 'statement', sql, parameters, onDone });
  }

  transaction<T>(work: (connection: EngineConnection) => Promise<T>, onUnknown?: () => void): Promise<T> {
    return this.#write({ kind: 'transaction', steps: new Steps(work), onUnknown });
  }

  #write<T>(work: Work): Promise<T> {
    return new Promise((resolve, rejectWrite) => {
      const reject = (error: unknown) => {
        // Also reject the statements that its work still waits for.
        if (work.kind === 'transaction') {
          work.steps.giveUp(error);
          if (error instanceof Error && isSqliteUnavailable(error)) work.onUnknown?.();
        }
        rejectWrite(error);
      };
      if (this.#waiting.length >= LONGEST_QUEUE) reject(busy('Too many writes wait'));
      else this.#queue({ work, since: performance.now(), resolve, reject });
    });
  }

  #queue(write: Write): void {
    this.#waiting.push(write);
    this.#writing ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#gather();
      await this.#writeBatch(this.#waiting.splice(0, MOST_TOGETHER));
    }
    this.#writing = null;
  }

  /** Gathers writes until a turn of the event loop brings no more. */
  async #gather(): Promise<void> {
    let gathered = 0;
    for (let turns = 0; turns < MOST_TURNS && gathered < this.#waiting.length; turns += 1) {
      gathered = this.#waiting.length;
      if (gathered >= MOST_TOGETHER && turns > 0) return;
      await setImmediate();
    }
  }

  async #writeBatch(batch: readonly Write[]): Promise<void> {
    // Writes that were set aside no longer belong to this batch, whatever happens to it.
    const aside = new Set<Write>();
    try {
      await this.#commitTogether(batch, aside);
    } catch (error) {
      const left = batch.filter((write) => !aside.has(write));
      const failsAll = left.length <= 1 || (error instanceof Error && isSqliteUnavailable(error));
      for (const write of failsAll ? [...left, ...this.#waitedAsLong(error)] : []) write.reject(error);
      if (!failsAll) await this.#writeOneByOne(left, aside);
    } finally {
      for (const write of aside) this.#comeBack(write);
      if (this.#statements.isReadOnly) {
        this.#endReading();
        this.#statements.reopen();
      }
    }
  }

  /**
   * One of the writes broke the commit, which undid them all. Commit each by itself, so that only
   * that one fails.
   */
  async #writeOneByOne(writes: readonly Write[], aside: Set<Write>): Promise<void> {
    let unavailable: { readonly error: unknown } | null = null;
    for (const write of writes) {
      try {
        if (unavailable !== null) throw unavailable.error;
        await this.#commitTogether([write], aside);
      } catch (error) {
        if (error instanceof Error && isSqliteUnavailable(error)) unavailable = { error };
        if (!aside.has(write)) write.reject(error);
      }
    }
  }

  #comeBack(write: Write): void {
    if (write.work.kind !== 'transaction') return;
    write.work.steps.whenReady(() => this.#queue({ ...write, since: performance.now() }));
  }

  /**
   * After another process blocked the batch for too long: the queued writes that have waited just
   * as long.
   */
  #waitedAsLong(error: unknown): readonly Write[] {
    if (!isSqliteBusy(error)) return [];
    const before = performance.now() - LONGEST_WAIT;
    const late = this.#waiting.filter(({ since }) => since <= before);
    this.#waiting = this.#waiting.filter(({ since }) => since > before);
    return late;
  }

  /**
   * Does the writes in one transaction, and then resolves or rejects each. Undoes and sets aside a
   * write that waits for something else. Rejects if the commit fails, as for a constraint that is
   * checked at the end. Then nothing is done, and no write is settled yet.
   */
  async #commitTogether(writes: readonly Write[], aside: Set<Write>): Promise<void> {
    const ended = Promise.withResolvers<void>();
    await whileBusy(() => {
      this.#endReading();
      this.#statements.run('BEGIN IMMEDIATE');
      // In the same turn as BEGIN, so that reads wait for the end from now on.
      this.#batch = ended.promise;
    });
    const notifyEach: (() => void)[] = [];
    try {
      // All of this takes one turn of the event loop, unless some work waits for something else.
      let turn = endOfTurn();
      for (const write of writes) {
        const notify = await this.#doOne(write, turn);
        if (notify === null) {
          aside.add(write);
          turn = endOfTurn();
        } else notifyEach.push(notify);
      }
      this.#statements.run('COMMIT');
      commits += 1;
    } catch (error) {
      if (this.#statements.isInTransaction) this.#statements.run('ROLLBACK');
      throw error;
    } finally {
      this.#batch = null;
      ended.resolve();
    }
    for (const notify of notifyEach) notify();
  }

  /**
   * Does one write of the open batch, or undoes only this write. Returns the function that settles
   * it after the commit, or null if it was undone because it waits for something else.
   */
  async #doOne(write: Write, turn: Promise<null>): Promise<(() => void) | null> {
    const { work, resolve, reject } = write;
    const isStatement = work.kind === 'statement';
    if (!isStatement) this.#statements.run('SAVEPOINT one');
    try {
      const outcome: Outcome | null = isStatement
        ? { result: this.#inBatch(work.sql, work.parameters) }
        : await work.steps.proceed(this.#inBatch, turn);
      if (outcome === null) {
        this.#refuseOutsideTransaction();
        this.#undoOne();
        return null;
      }
      if ('error' in outcome) throw outcome.error;
      this.#refuseOutsideTransaction();
      if (isStatement) work.onDone?.();
      else this.#statements.run('RELEASE one');
      return () => resolve(outcome.result as never);
    } catch (error) {
      // An error that undoes the whole transaction, such as a full disk, fails all of its writes.
      if (!this.#statements.isInTransaction) throw error;
      if (!isStatement) this.#undoOne();
      return () => reject(error);
    }
  }

  #undoOne(): void {
    this.#statements.run('ROLLBACK TO one');
    this.#statements.run('RELEASE one');
  }

  /**
   * A full disk, `ON CONFLICT ROLLBACK` and the like end the transaction. Any later statement would
   * commit by itself.
   */
  #refuseOutsideTransaction(): void {
    if (!this.#statements.isInTransaction)
      throw new Error('The transaction was rolled back by a statement that failed');
  }
}

/** Resolves after everything that waits only for statements has run. */
function endOfTurn(): Promise<null> {
  return setImmediate(null);
}

/** Retries while another process is writing. Between the tries, other requests run. */
async function whileBusy<T>(attempt: () => T): Promise<T> {
  const until = performance.now() + LONGEST_WAIT;
  for (let wait = 1; ; wait = Math.min(wait * 2, 20)) {
    try {
      return attempt();
    } catch (error) {
      if (!isSqliteBusy(error) || performance.now() > until) throw error;
      await setTimeout(wait * Math.random());
    }
  }
}
