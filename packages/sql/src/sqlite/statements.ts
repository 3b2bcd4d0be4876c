import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SqlParameter } from '../contract.ts';
import type { StatementResult } from '../engine.ts';
import { isSqliteReadOnly } from './failures.ts';
import { openFile, type FileOptions } from './file.ts';

/** Prepared statements are kept up to this number. */
const KEPT_STATEMENTS = 256;

/** Statements that change nothing, or that cannot run inside of a transaction. Any other counts as a write. */
const IS_READ = /^\s*(?:SELECT|VALUES|EXPLAIN|PRAGMA|VACUUM|ATTACH|DETACH)\b/i;
const IS_QUERY = /^\s*(?:SELECT|VALUES)\b/i;
/** With the whole name of the table, quoted or not; one with a schema before it is left out. */
const INSERT =
  /^\s*(?:INSERT|REPLACE)(?:\s+OR\s+\w+)?\s+INTO\s+(?:"([^"]+)"|`([^`]+)`|\[([^\]]+)\]|(\w+))(?=[\s(]|$)(?!\s*\.)/i;

type Row = Readonly<Record<string, unknown>>;

/** A prepared statement, and what kind it is. */
export interface Prepared {
  readonly statement: StatementSync;
  readonly isRead: boolean;
  readonly isQuery: boolean;
  /** Whether SQLite numbers the row that it inserts. */
  readonly numbersRow: boolean;
  /** Makes rows of what the driver returns; null for a statement without columns. */
  readonly toRows: ((rows: readonly unknown[]) => readonly Row[]) | null;
}

/** One connection to a file, opened at the first statement, and the statements that are prepared on it. */
export class Statements {
  readonly #file: string;
  readonly #options: FileOptions;
  #database: DatabaseSync | null = null;
  readonly #prepared = new Map<string, Prepared>();
  #closed = false;
  #isReadOnly = false;

  constructor(file: string, options: FileOptions) {
    this.#file = file;
    this.#options = options;
  }

  /** Whether a transaction is open, for reading or for writing. */
  get isInTransaction(): boolean {
    return this.#database?.isOpen === true && this.#database.isTransaction;
  }

  /** Whether a statement that `run` ran found the file to be read-only: `reopen` may help. */
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
    this.#database ??= openFile(this.#file, this.#options);
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

  /** Begins or ends a read transaction: as `run`, without making a result of which nothing is wanted. */
  control(sql: 'BEGIN' | 'COMMIT'): void {
    this.prepare(sql).statement.get();
  }

  /** The next statement opens the file anew. One in memory stays: what is in it would be gone. */
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
  // As a number, one of 64 bits would be rounded.
  if (numbersRow) statement.setReadBigInts(true);
  if (columns.length === 0) return { ...kind, toRows: null };
  // The columns of `*` change with the schema, which another process may change: the driver names them.
  if (sql.includes('*')) return { ...kind, toRows: (rows) => rows.map((row) => ({ ...(row as Row) })) };
  statement.setReturnArrays(true);
  return { ...kind, toRows: toRowsNamed(columns) };
}

/** Otherwise SQLite reports the number of an earlier insert: for an upsert that updates, and a table WITHOUT ROWID. */
function doesNumberRow(database: DatabaseSync, sql: string): boolean {
  const [, ...names] = INSERT.exec(sql) ?? [];
  const table = names.find((name) => name !== undefined);
  if (table === undefined || /\bON\s+CONFLICT\b/i.test(sql)) return false;
  const found = database.prepare('SELECT type, wr FROM pragma_table_list(?)').get(table);
  return found?.['type'] === 'table' && found['wr'] === 0;
}

/** Names the values of each row: the driver's own rows take twice as long to make, and to read from. */
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

/** Executes a statement on its connection. */
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
 * The number of a row may be another one when its transaction was set aside and its steps are repeated. It then becomes that of
 * the repetition, unless the work has looked at it before, and may have gone on from it.
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

  /** False when the work has seen another number than the repetition has. */
  becomes(repetition: StatementResult): boolean {
    if (!(repetition instanceof InsertResult)) return false;
    if (this.#isLookedAt) return repetition.#rowId === this.#rowId;
    this.#rowId = repetition.#rowId;
    return true;
  }
}
