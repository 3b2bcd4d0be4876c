import { setTimeout } from 'node:timers/promises';
import type { SqlParameter } from '../contract.ts';
import type { Engine, EngineConnection, StatementResult } from '../engine.ts';
import { readsTogether, type Together } from '../together.ts';
import { isSqliteBusy } from './failures.ts';
import { executePrepared, Statements } from './statements.ts';
import { countCommits, WriteQueue } from './write-queue.ts';
import { LONGEST_WAIT } from './while-busy.ts';

/**
 * Opens SQLite through `node:sqlite`. `file` is an absolute path or `:memory:`. `isBorrowed` is
 * true if the application uses the same file.
 */
export function openSqlite(file: string, { isBorrowed = false } = {}): Engine {
  return new SqliteEngine(file, isBorrowed);
}

/**
 * One connection on one thread. Writes wait in a queue, and run in batches. Reads wait only for an
 * open batch, so they see only committed data.
 */
class SqliteEngine implements Engine {
  readonly #statements: Statements;
  readonly #queue: WriteQueue;
  /**
   * The open read transaction. `reader` is the group of reads that uses it. `commits` is the number
   * of commits before it began.
   */
  #reading: { readonly reader: Together; readonly commits: number } | null = null;

  constructor(file: string, isBorrowed: boolean) {
    this.#statements = new Statements(file, LONGEST_WAIT, isBorrowed);
    this.#queue = new WriteQueue(this.#statements, this.#endReading);
  }

  async execute(
    sql: string,
    parameters: readonly SqlParameter[],
    onUnknown?: () => void,
  ): Promise<StatementResult> {
    if (!this.#statements.isRead(sql)) return this.#queue.statement(sql, parameters, onUnknown);
    const until = performance.now() + LONGEST_WAIT;
    for (;;) {
      // Wait until an open batch has ended. Its writes are not committed yet and may be rolled
      // back.
      while (this.#queue.batch !== null) await this.#queue.batch;
      try {
        return this.#read(sql, parameters);
      } catch (error) {
        if (!isSqliteBusy(error) || performance.now() > until) throw error;
        await setTimeout(1);
      }
    }
  }

  endReads(together: Together): void {
    if (this.#reading?.reader === together) this.#endReading();
  }

  connections(): null {
    return null;
  }

  transaction<T>(
    work: (connection: EngineConnection) => Promise<T>,
    onUnknown?: () => void,
  ): Promise<T> {
    return this.#queue.transaction(asCaller(work), onUnknown);
  }

  /** Waits for the waiting writes, but at most `LONGEST_WAIT`. Then closes the connection. */
  async close(): Promise<void> {
    const waited = new AbortController();
    const enough = setTimeout(LONGEST_WAIT, undefined, { signal: waited.signal }).catch(() => {});
    await Promise.race([this.#queue.writing, enough]);
    waited.abort();
    this.#endReading();
    this.#statements.close();
  }

  /**
   * Runs a read. Taking SQLite's read lock takes longer than most reads. Therefore, reads that
   * belong together share one lock within a turn of the event loop. A request that arrives in the
   * meantime is handled in a later turn.
   */
  #read(sql: string, parameters: readonly SqlParameter[]): StatementResult {
    const reader = readsTogether();
    if (
      this.#reading !== null &&
      (this.#reading.reader !== reader || this.#reading.commits !== countCommits())
    )
      this.#endReading();
    const prepared = this.#statements.prepare(sql);
    if (!prepared.isQuery) this.#endReading();
    else if (this.#reading === null && reader !== null) {
      this.#statements.control('BEGIN');
      this.#reading = { reader, commits: countCommits() };
      queueMicrotask(this.#endReadingSoon);
    }
    return executePrepared(prepared, parameters);
  }

  /**
   * Ends the read transaction after Node has run all promises that are ready. Call this in a
   * microtask. Otherwise, the transaction would end before these promises run.
   */
  readonly #endReadingSoon = (): void => process.nextTick(this.#endReading);

  readonly #endReading = (): void => {
    if (this.#reading === null) return;
    this.#reading = null;
    if (this.#statements.isInTransaction) this.#statements.control('COMMIT');
  };
}

/**
 * Returns a function that runs the work in the caller's `AsyncLocalStorage` context. Otherwise, the
 * work would run in the context of the request that begins the batch. A callback of `then` keeps
 * its context, so this needs much less memory than `AsyncLocalStorage.bind`.
 */
function asCaller<Given, T>(work: (given: Given) => Promise<T>): (given: Given) => Promise<T> {
  const begun = Promise.withResolvers<Given>();
  const done = begun.promise.then(work);
  return (given) => {
    begun.resolve(given);
    return done;
  };
}
