import { LONGEST_WAIT, whileBusy } from './while-busy.ts';
import { setImmediate } from 'node:timers/promises';
import type { SqlParameter } from '../contract.ts';
import type { EngineConnection, StatementResult } from '../engine.ts';
import { busy, isSqliteBusy, isSqliteUnavailable } from './failures.ts';
import type { Statements } from './statements.ts';
import { Steps, type Outcome } from './steps.ts';
import { refuseSavepoints, refuseTransactionControl } from '../transaction-control.ts';
import { isError } from '../is-error.ts';

/**
 * The maximum number of writes in one transaction. A full batch takes about a millisecond, and
 * blocks all other requests meanwhile.
 */
const MOST_TOGETHER = 32;
/** For how many turns of the event loop a batch waits at most for more writes. */
const MOST_TURNS = 4;
/**
 * The maximum number of waiting writes. When it is reached, the store is too busy, and Portico
 * rejects further writes.
 */
const LONGEST_QUEUE = 10_000;

/**
 * The work of a write: one statement or a transaction. SQLite itself rolls back a failed statement.
 * A transaction of several statements needs a savepoint.
 */
type Work =
  | {
      readonly kind: 'statement';
      readonly sql: string;
      readonly parameters: readonly SqlParameter[];
      /**
       * Called after the statement succeeded and before the commit. If the write then fails, it is
       * unknown whether the commit took effect.
       */
      readonly onDone: (() => void) | undefined;
    }
  | {
      readonly kind: 'transaction';
      readonly steps: Steps;
      /**
       * Called if the transaction fails because the store is unavailable. It is then unknown
       * whether a commit took effect.
       */
      readonly onUnknown: (() => void) | undefined;
    };

/** A write that waits for its turn. */
interface Write {
  readonly work: Work;
  /** When the write began to wait (`performance.now()`). */
  readonly since: number;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

let commits = 0;

/**
 * Returns the number of commits on all of Portico's connections in this process, because several
 * connections may use one file. If the number has changed, an earlier read may be outdated.
 */
export function countCommits(): number {
  return commits;
}

/**
 * Commits writes that arrive together in one immediate transaction, with one fsync. Each
 * transaction among them has a savepoint, so only a write that fails is rolled back. Each write
 * resolves only after the commit. The queue takes the write lock before the first write. Otherwise,
 * another process could write between a transaction's reads and its changes.
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

  /** `endReading` must end a read transaction that is open on the same connection. */
  constructor(statements: Statements, endReading: () => void) {
    this.#statements = statements;
    this.#endReading = endReading;
  }

  /** A promise that resolves when the open batch ends. Null if no batch is open. */
  get batch(): Promise<void> | null {
    return this.#batch;
  }

  /**
   * A promise that resolves when no write is waiting or running. Null if the queue is idle. Writes
   * that are set aside do not count.
   */
  get writing(): Promise<void> | null {
    return this.#writing;
  }

  statement(
    sql: string,
    parameters: readonly SqlParameter[],
    onDone?: () => void,
  ): Promise<StatementResult> {
    refuseTransactionControl(sql);
    refuseSavepoints(sql);
    return this.#write({ kind: 'statement', sql, parameters, onDone });
  }

  transaction<T>(
    work: (connection: EngineConnection) => Promise<T>,
    onUnknown?: () => void,
  ): Promise<T> {
    return this.#write({ kind: 'transaction', steps: new Steps(work), onUnknown });
  }

  #write<T>(work: Work): Promise<T> {
    return new Promise((resolve, rejectWrite) => {
      const reject = (error: unknown) => {
        // Also reject the statements that the transaction's work waits for.
        if (work.kind === 'transaction') {
          work.steps.giveUp(error);
          if (isError(error) && isSqliteUnavailable(error)) work.onUnknown?.();
        }
        rejectWrite(error);
      };
      if (this.#waiting.length >= LONGEST_QUEUE) reject(busy('Too many writes are waiting'));
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

  /**
   * Collects writes until no more arrive during a turn of the event loop, or until there are enough
   * for a batch. Waits at most `MOST_TURNS` turns.
   */
  async #gather(): Promise<void> {
    let gathered = 0;
    for (let turns = 0; turns < MOST_TURNS && gathered < this.#waiting.length; turns += 1) {
      gathered = this.#waiting.length;
      if (gathered >= MOST_TOGETHER && turns > 0) return;
      await setImmediate();
    }
  }

  async #writeBatch(batch: readonly Write[]): Promise<void> {
    // The writes that are set aside. This batch's result does not affect them.
    const aside = new Set<Write>();
    try {
      await this.#commitTogether(batch, aside);
    } catch (error) {
      const left = batch.filter((write) => !aside.has(write));
      const failsAll = left.length <= 1 || (isError(error) && isSqliteUnavailable(error));
      for (const write of failsAll ? [...left, ...this.#waitedAsLong(error)] : [])
        write.reject(error);
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
   * Commits each write separately. Used after one write made the common commit fail, so that the
   * other writes still succeed.
   */
  async #writeOneByOne(writes: readonly Write[], aside: Set<Write>): Promise<void> {
    let unavailable: { readonly error: unknown } | null = null;
    for (const write of writes) {
      try {
        if (unavailable !== null) throw unavailable.error;
        await this.#commitTogether([write], aside);
      } catch (error) {
        if (isError(error) && isSqliteUnavailable(error)) unavailable = { error };
        if (!aside.has(write)) write.reject(error);
      }
    }
  }

  #comeBack(write: Write): void {
    if (write.work.kind !== 'transaction') return;
    write.work.steps.whenReady(() => this.#queue({ ...write, since: performance.now() }));
  }

  /**
   * Removes and returns the writes that have waited too long. Used after another process has
   * blocked the batch for too long.
   */
  #waitedAsLong(error: unknown): readonly Write[] {
    if (!isSqliteBusy(error)) return [];
    const before = performance.now() - LONGEST_WAIT;
    const late = this.#waiting.filter(({ since }) => since <= before);
    this.#waiting = this.#waiting.filter(({ since }) => since > before);
    return late;
  }

  /**
   * Runs the writes in one transaction, then resolves or rejects each of them. A write that waits
   * for anything except its statements is rolled back and set aside. Rejects if the transaction
   * cannot begin or cannot be committed, for example because of a constraint that is checked at the
   * end. In this case, it has not resolved or rejected any write.
   */
  async #commitTogether(writes: readonly Write[], aside: Set<Write>): Promise<void> {
    const ended = Promise.withResolvers<void>();
    await whileBusy(() => {
      this.#endReading();
      this.#statements.run('BEGIN IMMEDIATE');
      // Set this in the same turn as BEGIN, so that all later reads wait for the batch.
      this.#batch = ended.promise;
    });
    const notifyEach: (() => void)[] = [];
    try {
      // This loop takes one turn of the event loop, unless a write waits for something other than
      // its statements.
      let turn = endOfTurn();
      for (const write of writes) {
        const notify = await this.#doOne(write, turn);
        if (notify === null) {
          aside.add(write);
          turn = endOfTurn();
        } else notifyEach.push(notify);
      }
      // Without WAL, a commit waits for the readers of other connections. The transaction stays
      // open meanwhile.
      await whileBusy(() => {
        this.#statements.run('COMMIT');
        commits += 1;
      });
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
   * Runs one write in the open batch. If the write fails, rolls back only that write. Returns the
   * function that resolves or rejects the write after the commit. Returns null if the write was set
   * aside.
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
      // If an error rolled back the whole transaction, for example because of a full disk, all of
      // its writes fail.
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
   * Throws if the transaction has ended, for example because of a full disk or
   * `ON CONFLICT ROLLBACK`. Otherwise, each later statement would be committed separately.
   */
  #refuseOutsideTransaction(): void {
    if (!this.#statements.isInTransaction)
      throw new Error('The transaction was rolled back, because a statement failed');
  }
}

/** Resolves when all code that waits only for statements has run. */
function endOfTurn(): Promise<null> {
  return setImmediate(null);
}
