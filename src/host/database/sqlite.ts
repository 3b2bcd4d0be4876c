import { AsyncLocalStorage } from 'node:async_hooks';
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Engine, EngineConnection, EngineSession, StatementResult } from './engine.ts';
import { busy, isSqliteBusy, isSqliteReadOnly, isSqliteUnavailable } from './sqlite-failures.ts';
import { Steps, type Settled } from './sqlite-steps.ts';
import { refuseSavepoints, refuseTransactionControl } from './transaction-control.ts';

/** How long a statement waits for another process's write, in milliseconds. */
const LONGEST_WAIT = 5000;
/** Writes in one transaction at most: a millisecond's work, during which nothing else is answered. */
const MOST_TOGETHER = 32;
/** Turns of the event loop that a batch is gathered for at most. */
const MOST_TURNS = 4;
/** Writes that wait before the next is told that the store is too busy. */
const LONGEST_QUEUE = 10_000;
/** Prepared statements are kept up to this number. */
const KEPT_STATEMENTS = 256;

/** SQLite through `node:sqlite`: the file, absolute, or `:memory:`. */
export function openSqlite(file: string): Engine {
  return new SqliteEngine(file);
}

/**
 * What a write does. One statement is undone by the database itself when it fails; several need a savepoint; a session's come
 * from outside, take their time and cannot be done again, so it has a batch for itself.
 */
type Work =
  | { readonly kind: 'statement'; readonly sql: string; readonly parameters: readonly unknown[] }
  | { readonly kind: 'transaction'; readonly steps: Steps }
  | { readonly kind: 'session'; readonly work: (connection: EngineConnection) => Promise<unknown> };

/** A write that waits for its turn. */
interface Write {
  readonly work: Work;
  /** Since when it waits, in milliseconds of `performance`. */
  readonly since: number;
  readonly resolve: (answer: never) => void;
  readonly reject: (error: unknown) => void;
}

/** What belongs together by `readTogether`. */
const together = new AsyncLocalStorage<object>();
/** Commits of all engines of this process, which may have a file in common: what was read before the last is not the latest. */
let commits = 0;

/**
 * One connection on the one thread. Reads run at once and see what is committed. Writes that arrive together commit
 * together, in one immediate transaction and with one fsync: each in its own savepoint, so that what fails undoes only
 * itself, and each answered only after the commit. The write lock is taken before the first of them, so that none of them
 * reads and then loses its place to another process.
 */
class SqliteEngine implements Engine {
  readonly #file: string;
  #opened: DatabaseSync | null = null;
  #closed = false;
  readonly #inBatch = (sql: string, parameters: readonly unknown[]): StatementResult => {
    refuseTransactionControl(sql);
    refuseSavepoints(sql);
    this.#refuseOutsideTransaction();
    return this.#run(sql, parameters);
  };
  /** For a session's savepoints, which nobody else's statements are inside of. */
  readonly #inSession: EngineConnection = {
    execute: async (sql, parameters) => {
      refuseTransactionControl(sql);
      this.#refuseOutsideTransaction();
      return this.#run(sql, parameters);
    },
  };
  readonly #statements = new Map<string, Prepared>();
  #waiting: Write[] = [];
  /** Ends when nothing waits to be written; null while nothing does. */
  #writing: Promise<void> | null = null;
  /** Ends with the batch that is open; null while none is. */
  #batch: Promise<void> | null = null;
  /** The file turned out to be one that may only be read from: the next statement opens it anew. */
  #givenUp = false;
  /** The read transaction that is open: for whom, and how many commits it may have seen. */
  #reading: { readonly reader: object; readonly commits: number } | null = null;

  constructor(file: string) {
    this.#file = file;
  }

  async execute(sql: string, parameters: readonly unknown[]): Promise<StatementResult> {
    const known = this.#statements.get(sql);
    if (!(known === undefined ? IS_READ.test(sql) : known.isRead)) {
      refuseTransactionControl(sql);
      refuseSavepoints(sql);
      return this.#write({ kind: 'statement', sql, parameters });
    }
    const until = performance.now() + LONGEST_WAIT;
    for (;;) {
      // What a batch has written is not committed yet, and may never be.
      while (this.#batch !== null) await this.#batch;
      try {
        return this.#read(sql, parameters);
      } catch (error) {
        if (!isSqliteBusy(error) || performance.now() > until) throw error;
        await setTimeout(1);
      }
    }
  }

  async readTogether<T>(work: () => Promise<T>): Promise<T> {
    const reader = {};
    try {
      return await together.run(reader, work);
    } finally {
      if (this.#reading?.reader === reader) this.#endReading();
    }
  }

  /** The work is done as the request that asked for it, whichever request began the batch. */
  transaction<T>(work: (connection: EngineConnection) => Promise<T>): Promise<T> {
    return this.#write({ kind: 'transaction', steps: new Steps(asCaller(work)) });
  }

  async session(): Promise<EngineSession> {
    return new SqliteSession(this, (work) => this.#write({ kind: 'session', work }));
  }

  /** What waits is written first; a session that does not come to its end is rolled back. */
  async close(): Promise<void> {
    const waited = new AbortController();
    const enough = setTimeout(LONGEST_WAIT, undefined, { signal: waited.signal }).catch(() => {});
    await Promise.race([this.#writing, enough]);
    waited.abort();
    this.#endReading();
    this.#closed = true;
    if (this.#opened?.isOpen === true) this.#opened.close();
  }

  #write<T>(work: Work): Promise<T> {
    return new Promise((resolve, rejectWrite) => {
      const reject = (error: unknown) => {
        // What its work still asks for is not left without an answer.
        if (work.kind === 'transaction') work.steps.giveUp(error);
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
      await this.#writeBatch(this.#nextBatch());
    }
    this.#writing = null;
  }

  /** What arrives together commits together: a turn of the event loop that brings nothing more ends the gathering. */
  async #gather(): Promise<void> {
    let gathered = 0;
    for (let turns = 0; turns < MOST_TURNS && gathered < this.#waiting.length; turns += 1) {
      gathered = this.#waiting.length;
      if (gathered >= MOST_TOGETHER && turns > 0) return;
      await setImmediate();
    }
  }

  #nextBatch(): readonly Write[] {
    const session = this.#waiting.findIndex(({ work }) => work.kind === 'session');
    const count = session === 0 ? 1 : session < 0 ? MOST_TOGETHER : Math.min(session, MOST_TOGETHER);
    return this.#waiting.splice(0, count);
  }

  async #writeBatch(batch: readonly Write[]): Promise<void> {
    // Those that wait for something else are in this batch no more, whatever becomes of it.
    const aside = new Set<Write>();
    try {
      await this.#commitTogether(batch, aside);
    } catch (error) {
      const left = batch.filter((write) => !aside.has(write));
      const everybodys = left.length <= 1 || (error instanceof Error && isSqliteUnavailable(error));
      for (const write of everybodys ? [...left, ...this.#waitedAsLong(error)] : []) write.reject(error);
      if (!everybodys) await this.#writeOneByOne(left, aside);
    } finally {
      for (const write of aside) this.#comeBack(write);
      if (this.#givenUp) this.#giveUp();
    }
  }

  /** Something that one of them did was found out when all were committed, and undid them all. */
  async #writeOneByOne(writes: readonly Write[], aside: Set<Write>): Promise<void> {
    let gone: { readonly error: unknown } | null = null;
    for (const write of writes) {
      try {
        if (gone !== null) throw gone.error;
        await this.#commitTogether([write], aside);
      } catch (error) {
        if (error instanceof Error && isSqliteUnavailable(error)) gone = { error };
        if (!aside.has(write)) write.reject(error);
      }
    }
  }

  #comeBack(write: Write): void {
    if (write.work.kind !== 'transaction') return;
    write.work.steps.whenItGoesOn(() => this.#queue({ ...write, since: performance.now() }));
  }

  /** Those in the queue that another process has kept waiting for as long as anybody waits. */
  #waitedAsLong(error: unknown): readonly Write[] {
    if (!isSqliteBusy(error)) return [];
    const before = performance.now() - LONGEST_WAIT;
    const late = this.#waiting.filter(({ since }) => since <= before);
    this.#waiting = this.#waiting.filter(({ since }) => since > before);
    return late;
  }

  /**
   * Does the writes in one transaction, and then tells each what came of it. One that waits for something else is undone and
   * put aside. Rejects when it cannot be committed, as for a constraint that is checked at the end: then nothing is done and
   * nobody told.
   */
  async #commitTogether(writes: readonly Write[], aside: Set<Write>): Promise<void> {
    const ended = Promise.withResolvers<void>();
    await patiently(() => {
      this.#endReading();
      this.#run('BEGIN IMMEDIATE', []);
      // From this very moment: whoever reads now must wait for the end.
      this.#batch = ended.promise;
    });
    const outcomes: (() => void)[] = [];
    try {
      // All of it happens in one turn of the event loop, unless somebody waits for something else.
      let turn = endOfTurn();
      for (const write of writes) {
        const tell = await this.#outcomeOf(write, turn);
        if (tell === null) {
          aside.add(write);
          turn = endOfTurn();
        } else outcomes.push(tell);
      }
      this.#run('COMMIT', []);
      commits += 1;
    } catch (error) {
      if (this.#isInTransaction) this.#run('ROLLBACK', []);
      throw error;
    } finally {
      this.#batch = null;
      ended.resolve();
    }
    for (const tell of outcomes) tell();
  }

  /**
   * Does one write of the open batch, or undoes it alone; what to tell of it once the batch is committed. Null for one that
   * was undone since it waits for something else.
   */
  async #outcomeOf(write: Write, turn: Promise<null>): Promise<(() => void) | null> {
    const { work, resolve, reject } = write;
    const single = work.kind === 'statement';
    if (!single) this.#run('SAVEPOINT one', []);
    try {
      const settled = await this.#settle(work, turn);
      if (settled === null) {
        this.#refuseOutsideTransaction();
        this.#undoOne();
        return null;
      }
      if ('error' in settled) throw settled.error;
      this.#refuseOutsideTransaction();
      if (!single) this.#run('RELEASE one', []);
      return () => resolve(settled.answer as never);
    } catch (error) {
      // A full disk and the like undo the whole transaction, which is everybody's fault then.
      if (!this.#isInTransaction) throw error;
      if (!single) this.#undoOne();
      return () => reject(error);
    }
  }

  async #settle(work: Work, turn: Promise<null>): Promise<Settled | null> {
    if (work.kind === 'transaction') return work.steps.proceed(this.#inBatch, turn);
    if (work.kind === 'session') return { answer: await work.work(this.#inSession) };
    return { answer: this.#inBatch(work.sql, work.parameters) };
  }

  #undoOne(): void {
    this.#run('ROLLBACK TO one', []);
    this.#run('RELEASE one', []);
  }

  #giveUp(): void {
    this.#givenUp = false;
    // What is in memory would be gone.
    if (this.#file === ':memory:' || this.#opened?.isOpen !== true) return;
    this.#endReading();
    this.#statements.clear();
    this.#opened.close();
    this.#opened = null;
  }

  /**
   * Taking and giving back SQLite's read lock costs more than most reads. So those that belong together share one, as long
   * as the event loop stays in the same turn: whatever is sent to this process meanwhile is looked at in a later one.
   */
  #read(sql: string, parameters: readonly unknown[]): StatementResult {
    const reader = together.getStore();
    if (this.#reading?.reader !== reader || this.#reading?.commits !== commits) this.#endReading();
    const prepared = this.#prepared(sql);
    if (!prepared.isQuery) this.#endReading();
    else if (this.#reading === null && reader !== undefined) {
      this.#run('BEGIN', []);
      this.#reading = { reader, commits };
      process.nextTick(this.#endReading);
    }
    return resultOf(prepared, parameters);
  }

  readonly #endReading = (): void => {
    if (this.#reading === null) return;
    this.#reading = null;
    if (this.#isInTransaction) this.#run('COMMIT', []);
  };

  get #isInTransaction(): boolean {
    return this.#opened?.isOpen === true && this.#opened.isTransaction;
  }

  /** A full disk, `ON CONFLICT ROLLBACK` and the like end the transaction: what came after would commit by itself. */
  #refuseOutsideTransaction(): void {
    if (!this.#isInTransaction) throw new Error('The transaction was rolled back by a statement that failed');
  }

  #run(sql: string, parameters: readonly unknown[]): StatementResult {
    try {
      return resultOf(this.#prepared(sql), parameters);
    } catch (error) {
      this.#givenUp ||= isSqliteReadOnly(error);
      throw error;
    }
  }

  #prepared(sql: string): Prepared {
    if (this.#closed) throw new Error('The database is closed');
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    this.#opened ??= open(this.#file);
    const prepared = prepare(this.#opened, sql);
    if (this.#statements.size >= KEPT_STATEMENTS) this.#statements.clear();
    this.#statements.set(sql, prepared);
    return prepared;
  }
}

/**
 * The work in the context (`AsyncLocalStorage`) of who calls this, wherever it is begun from. What waits for a promise goes
 * on in its own context, which holds much less memory than `AsyncLocalStorage.bind`.
 */
function asCaller<Given, T>(work: (given: Given) => Promise<T>): (given: Given) => Promise<T> {
  const begun = Promise.withResolvers<Given>();
  const done = begun.promise.then(work);
  return (given) => {
    begun.resolve(given);
    return done;
  };
}

/** When whatever could be done without waiting for anything outside has been done. */
function endOfTurn(): Promise<null> {
  return setImmediate(null);
}

/** A transaction whose steps come one by one: a write that lasts until its end is told. */
class SqliteSession implements EngineSession {
  readonly #engine: Engine;
  readonly #write: Engine['transaction'];
  #open: {
    readonly connection: EngineConnection;
    readonly end: PromiseWithResolvers<void>;
    readonly outcome: Promise<void>;
  } | null = null;

  constructor(engine: Engine, write: Engine['transaction']) {
    this.#engine = engine;
    this.#write = write;
  }

  execute(sql: string, parameters: readonly unknown[]): Promise<StatementResult> {
    return (this.#open?.connection ?? this.#engine).execute(sql, parameters);
  }

  async begin(): Promise<void> {
    const end = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<EngineConnection>();
    const outcome = this.#write(async (connection) => {
      begun.resolve(connection);
      await end.promise;
    });
    outcome.catch(begun.reject);
    this.#open = { connection: await begun.promise, end, outcome };
  }

  async commit(): Promise<void> {
    const open = this.#open;
    this.#open = null;
    open?.end.resolve();
    await open?.outcome;
  }

  async rollback(): Promise<void> {
    const open = this.#open;
    this.#open = null;
    const undone = new Error('The transaction is undone');
    open?.end.reject(undone);
    await open?.outcome.catch((error: unknown) => {
      if (error !== undone) throw error;
    });
  }

  release(): void {}
}

/** What changes nothing, or cannot run inside of a transaction. Whatever else is taken for a write. */
const IS_READ = /^\s*(?:SELECT|VALUES|EXPLAIN|PRAGMA|VACUUM|ATTACH|DETACH)\b/i;
const IS_QUERY = /^\s*(?:SELECT|VALUES)\b/i;

type Row = Readonly<Record<string, unknown>>;

interface Prepared {
  readonly statement: StatementSync;
  readonly isRead: boolean;
  readonly isQuery: boolean;
  /** Makes rows of what the driver answers; null for a statement that answers none. */
  readonly rowsOf: ((rows: readonly unknown[]) => readonly Row[]) | null;
}

function open(file: string): DatabaseSync {
  if (file !== ':memory:') createForOneselfAlone(file);
  const database = new DatabaseSync(file, { timeout: LONGEST_WAIT, enableForeignKeyConstraints: true });
  try {
    // FULL: a revocation that was answered survives a power cut, which WAL alone does not promise.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    // From here on nobody waits on the one thread for another process: `patiently` comes back later.
    database.exec('PRAGMA busy_timeout = 0');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * SQLite itself would let everybody read. The files beside it (`-wal`, `-shm`) get the mode of this one. One that is there is
 * not even looked at: closing it would take away the locks of every other connection of this process.
 */
function createForOneselfAlone(file: string): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  // A link may name a file that is not there yet, which an exclusive open would take for one that is.
  if (existsSync(file)) return;
  try {
    closeSync(openSync(file, 'a', 0o600));
  } catch {
    // SQLite says what is wrong with it.
  }
}

function prepare(database: DatabaseSync, sql: string): Prepared {
  const statement = database.prepare(sql);
  const kind = { statement, isRead: IS_READ.test(sql), isQuery: IS_QUERY.test(sql) };
  const columns = statement.columns().map(({ name }) => name);
  if (columns.length === 0) return { ...kind, rowsOf: null };
  // What a star stands for changes with the schema, which another process may change: the driver names those columns.
  if (sql.includes('*')) return { ...kind, rowsOf: (rows) => rows.map((row) => ({ ...(row as Row) })) };
  statement.setReturnArrays(true);
  return { ...kind, rowsOf: namedBy(columns) };
}

/** Names what the columns hold: the rows that the driver makes by itself take twice as long to make, and to read from. */
function namedBy(columns: readonly string[]): (rows: readonly unknown[]) => readonly Row[] {
  const empty = Object.fromEntries(columns.map((column) => [column, null]));
  const rowOf = (values: readonly unknown[]) => {
    const row: Record<string, unknown> = { ...empty };
    for (const [index, column] of columns.entries()) row[column] = values[index];
    return row;
  };
  return (rows) => (rows as readonly (readonly unknown[])[]).map(rowOf);
}

function resultOf({ statement, rowsOf }: Prepared, parameters: readonly unknown[]): StatementResult {
  const values = parameters as SQLInputValue[];
  if (rowsOf === null) {
    const { changes, lastInsertRowid } = statement.run(...values);
    return { rows: [], affected: Number(changes), insertId: BigInt(lastInsertRowid) };
  }
  return { rows: rowsOf(statement.all(...values)), affected: 0 };
}

/** Tries again while another process is writing, and leaves the thread to other requests in between. */
async function patiently<T>(attempt: () => T): Promise<T> {
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
