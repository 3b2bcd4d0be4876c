import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SqlParameter } from '../contract.ts';
import type { StatementResult } from '../engine.ts';
import { isSqliteReadOnly } from './failures.ts';
import { openFile } from './file.ts';

/** The maximum number of prepared statements that are stored for reuse. */
const KEPT_STATEMENTS = 256;

/**
 * Matches statements that change nothing, and statements that cannot run inside a transaction. All
 * other statements run as writes.
 */
const IS_READ = /^\s*(?:SELECT|VALUES|EXPLAIN|PRAGMA|VACUUM|ATTACH|DETACH)\b/i;
const IS_QUERY = /^\s*(?:SELECT|VALUES)\b/i;
/** Captures the name of the table, with or without quotes. A name with a schema does not match. */
const INSERT =
  /^\s*(?:INSERT|REPLACE)(?:\s+OR\s+\w+)?\s+INTO\s+(?:"([^"]+)"|`([^`]+)`|\[([^\]]+)\]|(\w+))(?=[\s(]|$)(?!\s*\.)/i;

type Row = Readonly<Record<string, unknown>>;

/** A prepared statement and its kind. */
export interface Prepared {
  readonly statement: StatementSync;
  readonly isRead: boolean;
  readonly isQuery: boolean;
  /** Whether SQLite assigns a number to the row that the statement inserts. */
  readonly numbersRow: boolean;
  /** Converts the driver's values into rows. Null if the statement returns no columns. */
  readonly toRows: ((rows: readonly unknown[]) => readonly Row[]) | null;
}

/** A connection to a file, with its prepared statements. Opens the file at the first statement. */
export class Statements {
  readonly #file: string;
  readonly #wait: number;
  readonly #isBorrowed: boolean;
  #database: DatabaseSync | null = null;
  readonly #prepared = new Map<string, Prepared>();
  #closed = false;
  #isReadOnly = false;

  /** Takes the same parameters as `openFile`. */
  constructor(file: string, wait: number, isBorrowed: boolean) {
    this.#file = file;
    this.#wait = wait;
    this.#isBorrowed = isBorrowed;
  }

  /** Whether a read or write transaction is open. */
  get isInTransaction(): boolean {
    return this.#database?.isOpen === true && this.#database.isTransaction;
  }

  /** Whether `run` found that the file is read-only. `reopen` may help. */
  get isReadOnly(): boolean {
    return this.#isReadOnly;
  }

  isRead(sql: string): boolean {
    const known = this.#prepared.get(sql);
    return known === undefined ? IS_READ.test(sql) : known.isRead;
  }

  prepare(sql: string): Prepared {
    if (this.#closed) throw new Error('The database is closed');
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    this.#database ??= openFile(this.#file, this.#wait, this.#isBorrowed);
    const prepared = prepareOn(this.#database, sql);
    if (this.#prepared.size >= KEPT_STATEMENTS) this.#prepared.clear();
    this.#prepared.set(sql, prepared);
    return prepared;
  }

  run(sql: string, parameters: readonly SqlParameter[] = []): StatementResult {
    try {
      return executePrepared(this.prepare(sql), parameters);
    } catch (error) {
      this.#isReadOnly ||= isSqliteReadOnly(error);
      throw error;
    }
  }

  /** Begins or ends a read transaction. Like `run`, but without a result. */
  control(sql: 'BEGIN' | 'COMMIT'): void {
    this.prepare(sql).statement.get();
  }

  /**
   * Makes the next statement open the file again. An in-memory database stays open, because closing
   * it would discard its contents.
   */
  reopen(): void {
    this.#isReadOnly = false;
    if (this.#file === ':memory:' || this.#database?.isOpen !== true) return;
    this.#prepared.clear();
    this.#database.close();
    this.#database = null;
  }

  close(): void {
    this.#closed = true;
    if (this.#database?.isOpen === true) this.#database.close();
  }
}

function prepareOn(database: DatabaseSync, sql: string): Prepared {
  const statement = database.prepare(sql);
  const columns = statement.columns().map(({ name }) => name);
  const numbersRow = columns.length === 0 && doesNumberRow(database, sql);
  const kind = { statement, isRead: IS_READ.test(sql), isQuery: IS_QUERY.test(sql), numbersRow };
  // Read the last row's number as a bigint, because a JavaScript number could round it. Every
  // statement returns this number, even COMMIT. Without bigints, Node 26 would run the statement
  // and then throw if the number is above 2^53.
  if (columns.length === 0) {
    statement.setReadBigInts(true);
    return { ...kind, toRows: null };
  }
  // Let the driver name the columns of `*`, because another process may change the schema.
  if (sql.includes('*'))
    return { ...kind, toRows: (rows) => rows.map((row) => ({ ...(row as Row) })) };
  statement.setReturnArrays(true);
  return { ...kind, toRows: toRowsNamed(columns) };
}

/**
 * Returns whether SQLite assigns a number to the row that this statement inserts. For an upsert
 * that updates a row, and for a table WITHOUT ROWID, SQLite would report the number of an earlier
 * INSERT instead.
 */
function doesNumberRow(database: DatabaseSync, sql: string): boolean {
  const [, ...names] = INSERT.exec(sql) ?? [];
  const table = names.find((name) => name !== undefined);
  if (table === undefined || /\bON\s+CONFLICT\b/i.test(sql)) return false;
  const found = database.prepare('SELECT type, wr FROM pragma_table_list(?)').get(table);
  return found?.['type'] === 'table' && found['wr'] === 0;
}

/**
 * Returns a function that creates rows from arrays. The driver's own rows take twice as long to
 * create and to read.
 */
function toRowsNamed(columns: readonly string[]): (rows: readonly unknown[]) => readonly Row[] {
  const empty = Object.fromEntries(columns.map((column) => [column, null]));
  const toRow = (values: readonly unknown[]) => {
    const row: Record<string, unknown> = { ...empty };
    let index = 0;
    for (const column of columns) {
      row[column] = values[index];
      index += 1;
    }
    return row;
  };
  return (rows) => (rows as readonly (readonly unknown[])[]).map(toRow);
}

/** Executes a prepared statement on its connection. */
export function executePrepared(
  { statement, numbersRow, toRows }: Prepared,
  parameters: readonly SqlParameter[],
): StatementResult {
  if (toRows !== null) return { rows: toRows(statement.all(...parameters)), affected: 0 };
  const { changes, lastInsertRowid } = statement.run(...parameters);
  const affected = Number(changes);
  return numbersRow && affected > 0
    ? new InsertResult(affected, lastInsertRowid)
    : { rows: NO_ROWS, affected };
}

const NO_ROWS: readonly never[] = [];

/**
 * The result of an INSERT. If its transaction is set aside and its steps are repeated, the row may
 * receive another number. The result then returns the new number, unless the work has already read
 * the old one.
 */
export class InsertResult implements StatementResult {
  readonly rows = NO_ROWS;
  readonly affected: number;
  #rowId: number | bigint;
  #isLookedAt = false;

  constructor(affected: number, rowId: number | bigint) {
    this.affected = affected;
    this.#rowId = rowId;
  }

  get insertId(): bigint {
    this.#isLookedAt = true;
    return BigInt(this.#rowId);
  }

  /**
   * Takes the number of the repeated INSERT. Returns false if the repeated statement inserted no
   * row, or if the work has already read a different number.
   */
  becomes(repetition: StatementResult): boolean {
    if (!(repetition instanceof InsertResult)) return false;
    if (this.#isLookedAt) return repetition.#rowId === this.#rowId;
    this.#rowId = repetition.#rowId;
    return true;
  }
}
