import type { Connection } from 'pg';
import type { SqlParameter } from '../../sql/contract.ts';
import type { StatementResult } from './engine.ts';

/** The columns that a statement answers with. */
type Columns = readonly { readonly name: string; readonly parse: (text: string) => unknown }[];

/** The columns of the named statements of one connection, once one of them has answered. */
export type KnownColumns = Map<string, Columns>;

/** What a statement is made of. */
export interface PostgresStatementOptions {
  readonly text: string;
  /** Empty for a statement that the server forgets. */
  readonly name: string;
  readonly parameters: readonly SqlParameter[];
  readonly known: KnownColumns;
  /** How a column of this type is read. */
  readonly parserOf: (type: number) => (text: string) => unknown;
  /** What `search_path` is for this statement alone; null for what the session has. */
  readonly searchPath: string | null;
  /** In milliseconds: `pg` takes its time limit from here. */
  readonly query_timeout: number;
}

/** In the transaction that the statement itself is. `SET LOCAL` would do the same with a warning in the server's log. */
const SET_SEARCH_PATH = "SELECT pg_catalog.set_config('search_path', $1, true)";

/** What `pg` knows of a connection's statements by name; its types do not say so. */
interface NamedStatements {
  readonly parsedStatements: Record<string, string | undefined>;
  readonly submittedNamedStatements: Record<string, string | undefined>;
}

/**
 * One statement, as `pg` lets others send their own (`Submittable`). Beside its own it asks for the columns only the first time
 * that a named statement runs on a connection: to tell them costs the server a fifth, and to read them costs this process a third
 * of a read by key. A statement with a star is asked each time: its columns change with the schema, and behind a connection pooler
 * nobody notices.
 */
export class PostgresStatement {
  readonly text: string;
  readonly name: string;
  readonly query_timeout: number;
  readonly #values: readonly (string | null)[];
  readonly #known: KnownColumns;
  readonly #parserOf: PostgresStatementOptions['parserOf'];
  readonly #searchPath: string | null;
  /** Whether what arrives is still the answer to the setting before. */
  #isSetting = false;
  /** Whether the statement's text was sent with it. */
  #isParsing = false;
  #columns: Columns | undefined;
  readonly #rows: Record<string, unknown>[] = [];
  #tag = '';
  #failed: { readonly error: unknown } | null = null;
  /** `pg` puts its time limit around this one. */
  callback: (error: unknown, result?: StatementResult) => void;

  constructor(
    { text, name, parameters, known, parserOf, searchPath, query_timeout }: PostgresStatementOptions,
    callback: (error: unknown, result?: StatementResult) => void,
  ) {
    this.text = text;
    this.name = name;
    this.#values = parameters.map(toText);
    this.#known = known;
    this.#parserOf = parserOf;
    this.#searchPath = searchPath;
    this.query_timeout = query_timeout;
    this.#columns = known.get(name);
    this.callback = callback;
  }

  submit(connection: Connection): void {
    const { name, text } = this;
    const { parsedStatements, submittedNamedStatements } = connection as unknown as NamedStatements;
    // All of it in one packet.
    connection.stream.cork();
    if (this.#searchPath !== null) {
      this.#isSetting = true;
      connection.parse({ name: '', text: SET_SEARCH_PATH, types: [] }, true);
      connection.bind({ statement: '', values: [this.#searchPath] }, true);
      connection.execute({}, true);
    }
    if (name === '' || (parsedStatements[name] ?? submittedNamedStatements[name]) === undefined) {
      this.#isParsing = true;
      connection.parse({ name, text, types: [] }, true);
      if (name !== '') submittedNamedStatements[name] = text;
    }
    connection.bind({ statement: name, values: this.#values as string[] }, true);
    if (this.#columns === undefined) connection.describe({ type: 'P', name: '' }, true);
    connection.execute({}, true);
    connection.sync();
    connection.stream.uncork();
  }

  handleRowDescription({ fields }: { readonly fields: readonly Field[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: this.#parserOf(dataTypeID),
    }));
  }

  handleDataRow({ fields: values }: { readonly fields: readonly (string | null)[] }): void {
    if (this.#failed !== null || this.#isSetting) return;
    const columns = this.#columns ?? [];
    try {
      if (values.length !== columns.length) throw new Error('The columns of a statement have changed');
      const row: Record<string, unknown> = {};
      for (const [index, { name, parse }] of columns.entries()) {
        const value = values[index] ?? null;
        row[name] = value === null ? null : parse(value);
      }
      this.#rows.push(row);
    } catch (error) {
      this.#failed = { error };
    }
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    if (this.#isSetting) this.#isSetting = false;
    else this.#tag = text;
  }

  handleReadyForQuery(): void {
    if (this.#failed !== null) {
      this.callback(this.#failed.error);
      return;
    }
    if (this.name !== '' && !MAY_CHANGE.test(this.text)) this.#known.set(this.name, this.#columns ?? []);
    this.callback(null, { rows: this.#rows, affected: affectedBy(this.#tag) });
  }

  handleError(error: unknown, connection?: Connection): void {
    // `pg` has taken the parsing of the setting for that of the statement, which may have failed (class 42).
    const statements = connection as unknown as NamedStatements | undefined;
    if (this.#searchPath !== null && this.#isParsing && isAboutText(error))
      delete statements?.parsedStatements[this.name];
    this.callback(error);
  }

  handleEmptyQuery(): void {}

  handlePortalSuspended(): void {}

  handleCopyInResponse(connection: { sendCopyFail(reason: string): void }): void {
    connection.sendCopyFail('COPY has no source here');
  }

  handleCopyData(): void {}
}

function isAboutText(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('42');
}

interface Field {
  readonly name: string;
  readonly dataTypeID: number;
}

/** `*` as the columns of a table, and `TABLE t`, which is the same. */
const MAY_CHANGE = /\*|\bTABLE\b/i;

/** Such as `UPDATE 1`, `INSERT 0 1`, `SELECT 1`. */
const CHANGED = /^(?:INSERT \d+|UPDATE|DELETE|MERGE) (\d+)$/;

function affectedBy(tag: string): number {
  return Number(CHANGED.exec(tag)?.[1] ?? 0);
}

function toText(value: SqlParameter | undefined): string | null {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return null;
  if (typeof value === 'object') throw new TypeError('A parameter is a string, a number, a bigint or null');
  return String(value);
}
