import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Engine, EngineConnection, EngineSession, StatementResult } from './engine.ts';

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

/** A write that waits for its turn. */
interface Write {
  /** Its statements. */
  readonly work: (connection: EngineConnection) => Promise<unknown>;
  /**
   * One statement is undone by the database itself when it fails; several need a savepoint; a session's come from outside,
   * take their time and cannot be run again, so it has a batch for itself.
   */
  readonly kind: 'statement' | 'transaction' | 'session';
  /** When it was asked for, in milliseconds of `performance`. */
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
  readonly #inBatch: EngineConnection = {
    execute: async (sql, parameters) => {
      refuseTransactionControl(sql);
      return this.#run(sql, parameters);
    },
  };
  /** For a session's savepoints, which nobody else's statements are inside of. */
  readonly #inSession: EngineConnection = {
    execute: async (sql, parameters) => {
      if (!IS_SAVEPOINT.test(sql)) refuseTransactionControl(sql);
      return this.#run(sql, parameters);
    },
  };
  readonly #statements = new Map<string, Prepared>();
  #waiting: Write[] = [];
  /** Ends when nothing waits to be written; null while nothing does. */
  #writing: Promise<void> | null = null;
  /** Ends with the batch that is open; null while none is. */
  #batch: Promise<void> | null = null;
  /** The read transaction that is open: for whom, and how many commits it may have seen. */
  #reading: { readonly reader: object; readonly commits: number } | null = null;

  constructor(file: string) {
    this.#file = file;
  }

  async execute(sql: string, parameters: readonly unknown[]): Promise<StatementResult> {
    const known = this.#statements.get(sql);
    if (!(known === undefined ? IS_READ.test(sql) : known.isRead)) {
      refuseTransactionControl(sql);
      return this.#write('statement', (connection) => connection.execute(sql, parameters));
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
    return this.#write('transaction', asCaller(work));
  }

  async session(): Promise<EngineSession> {
    return new SqliteSession(this, (work) => this.#write('session', work));
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

  #write<T>(kind: Write['kind'], work: (connection: EngineConnection) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length >= LONGEST_QUEUE) {
        reject(Object.assign(new Error('Too many writes wait'), { errcode: BUSY }));
        return;
      }
      this.#waiting.push({ work, kind, since: performance.now(), resolve, reject });
      this.#writing ??= this.#writeAll();
    });
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
    const session = this.#waiting.findIndex(({ kind }) => kind === 'session');
    const count = session === 0 ? 1 : session < 0 ? MOST_TOGETHER : Math.min(session, MOST_TOGETHER);
    return this.#waiting.splice(0, count);
  }

  async #writeBatch(batch: readonly Write[]): Promise<void> {
    try {
      await this.#commitTogether(batch);
    } catch (error) {
      const everybodys = batch.length === 1 || (error instanceof Error && isSqliteUnavailable(error));
      for (const write of everybodys ? [...batch, ...this.#waitedAsLong(error)] : []) write.reject(error);
      if (!everybodys) await this.#writeOneByOne(batch);
    }
  }

  /** Something that one of them did was found out when all were committed, and undid them all. */
  async #writeOneByOne(writes: readonly Write[]): Promise<void> {
    let gone: { readonly error: unknown } | null = null;
    for (const write of writes) {
      try {
        if (gone !== null) throw gone.error;
        await this.#commitTogether([write]);
      } catch (error) {
        if (error instanceof Error && isSqliteUnavailable(error)) gone = { error };
        write.reject(error);
      }
    }
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
   * Does the writes in one transaction, and then tells each what came of it. Rejects when it cannot be committed, as for a
   * constraint that is checked at the end: then nothing is done and nobody told.
   */
  async #commitTogether(writes: readonly Write[]): Promise<void> {
    const ended = Promise.withResolvers<void>();
    await patiently(() => {
      this.#endReading();
      this.#run('BEGIN IMMEDIATE', []);
      // From this very moment: whoever reads now must wait for the end.
      this.#batch = ended.promise;
    });
    const outcomes: (() => void)[] = [];
    try {
      for (const write of writes) outcomes.push(await this.#outcomeOf(write));
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

  /** Does one write of the open batch, or undoes it alone; what to tell of it once the batch is committed. */
  async #outcomeOf({ work, kind, resolve, reject }: Write): Promise<() => void> {
    const single = kind === 'statement';
    if (!single) this.#run('SAVEPOINT one', []);
    try {
      const answer = (await work(kind === 'session' ? this.#inSession : this.#inBatch)) as never;
      if (!single) this.#run('RELEASE one', []);
      return () => resolve(answer);
    } catch (error) {
      // A full disk and the like undo the whole transaction, which is everybody's fault then.
      if (!this.#isInTransaction) throw error;
      if (!single) {
        this.#run('ROLLBACK TO one', []);
        this.#run('RELEASE one', []);
      }
      return () => reject(error);
    }
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

  #run(sql: string, parameters: readonly unknown[]): StatementResult {
    return resultOf(this.#prepared(sql), parameters);
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
 * The work in the context (`AsyncLocalStorage`) of who calls this, wherever it is begun from and however often. What waits
 * for a promise goes on in its own context, which holds much less memory than `AsyncLocalStorage.bind`.
 */
function asCaller<Given, T>(work: (given: Given) => Promise<T>): (given: Given) => Promise<T> {
  const armed = () => {
    const begun = Promise.withResolvers<Given>();
    const done = begun.promise.then((given) => {
      next = armed();
      return work(given);
    });
    return { begun, done };
  };
  let next = armed();
  return (given) => {
    const { begun, done } = next;
    begun.resolve(given);
    return done;
  };
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

/** A transaction ends with the work it was begun for, and not by a statement inside of it: others may be in it too. */
const CONTROLS_TRANSACTION = /^\s*(?:BEGIN|COMMIT|END|ROLLBACK|SAVEPOINT|RELEASE)\b/i;
const IS_SAVEPOINT = /^\s*(?:SAVEPOINT|RELEASE|ROLLBACK\s+TO)\b/i;

function refuseTransactionControl(sql: string): void {
  if (CONTROLS_TRANSACTION.test(sql))
    throw new Error('Use transaction(): what begins or ends one cannot be executed');
}

type Row = Readonly<Record<string, unknown>>;

interface Prepared {
  readonly statement: StatementSync;
  readonly isRead: boolean;
  readonly isQuery: boolean;
  /** Makes rows of what the driver answers; null for a statement that answers none. */
  readonly rowsOf: ((rows: readonly unknown[]) => readonly Row[]) | null;
}

function open(file: string): DatabaseSync {
  if (file !== ':memory:') mkdirSync(path.dirname(file), { recursive: true });
  const database = new DatabaseSync(file, { timeout: LONGEST_WAIT, enableForeignKeyConstraints: true });
  // FULL: a revocation that was answered survives a power cut, which WAL alone does not promise.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  // From here on nobody waits on the one thread for another process: `patiently` comes back later.
  database.exec('PRAGMA busy_timeout = 0');
  return database;
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

const BUSY = 5;
/** SQLite's result codes that mean "not now": BUSY, LOCKED, IOERR, CANTOPEN, FULL. */
const UNAVAILABLE: ReadonlySet<number> = new Set([BUSY, 6, 10, 14, 13]);

/** BUSY and LOCKED: another process is writing. */
export function isSqliteBusy(error: unknown): boolean {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return false;
  const code = error.errcode & 0xff;
  return code === 5 || code === 6;
}

export function isSqliteUnavailable(error: Error): boolean {
  // The primary result code is the low byte of the extended one.
  return 'errcode' in error && typeof error.errcode === 'number' && UNAVAILABLE.has(error.errcode & 0xff);
}
