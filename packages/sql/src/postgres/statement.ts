import type { Connection } from 'pg';
import type { SqlParameter } from '../contract.ts';
import type { StatementResult } from '../engine.ts';

/** The columns of a statement's answer. */
type Columns = readonly { readonly name: string; readonly parse: (text: string) => unknown }[];

/**
 * The named statements of a connection that have answered, each with its columns, or null where the
 * columns may change. A failed statement is not listed, even if the server knows it. `pg` keeps its
 * own list private.
 */
const namedStatements = new WeakMap<Connection, Map<string, Columns | null>>();

function getNamedStatements(connection: Connection): Map<string, Columns | null> {
  let named = namedStatements.get(connection);
  if (named === undefined) {
    named = new Map();
    namedStatements.set(connection, named);
  }
  return named;
}

/** The parts of a statement. */
export interface PostgresStatementOptions {
  readonly text: string;
  /** Empty for a statement that the server forgets. */
  readonly name: string;
  readonly parameters: readonly SqlParameter[];
  /** How to read a column of this type. */
  readonly parserOf: (type: number) => (text: string) => unknown;
  /** The `search_path` for this statement alone. Null uses the session's. */
  readonly searchPath: string | null;
  /** In milliseconds. `pg` takes its time limit from here. */
  readonly query_timeout: number;
}

/**
 * Runs in the statement's own transaction. `SET LOCAL` would work too, but writes a warning to the
 * server's log.
 */
const SET_SEARCH_PATH = "SELECT pg_catalog.set_config('search_path', $1, true)";

/**
 * One statement, which `pg` sends as a `Submittable`. Unlike `pg`'s own, it asks for the columns
 * only the first time that a named statement runs on a connection. Describing them costs the server
 * a fifth, and reading them costs this process a third of a read by key. A statement with a star
 * asks each time: its columns change with the schema, and behind a connection pooler the change
 * goes unnoticed.
 */
export class PostgresStatement {
  readonly text: string;
  readonly name: string;
  readonly query_timeout: number;
  readonly #values: readonly (string | null)[];
  readonly #parserOf: PostgresStatementOptions['parserOf'];
  readonly #searchPath: string | null;
  /** Whether the current answer still belongs to the SET before the statement. */
  #isSetting = false;
  /** The named statements of the connection it was sent on. */
  #named: Map<string, Columns | null> | null = null;
  #columns: Columns | null = null;
  readonly #rows: Record<string, unknown>[] = [];
  /** The server's summary, such as `UPDATE 1`. */
  tag = '';
  #failed: { readonly error: unknown } | null = null;
  /** `pg` wraps this callback with its time limit. */
  callback: (error: unknown, result?: StatementResult) => void;

  constructor(
    { text, name, parameters, parserOf, searchPath, query_timeout }: PostgresStatementOptions,
    callback: (error: unknown, result?: StatementResult) => void,
  ) {
    this.text = text;
    this.name = name;
    this.#values = parameters.map(toText);
    this.#parserOf = parserOf;
    this.#searchPath = searchPath;
    this.query_timeout = query_timeout;
    this.callback = callback;
  }

  submit(connection: Connection): void {
    const { name, text } = this;
    const named = getNamedStatements(connection);
    this.#named = named;
    const columns = named.get(name);
    this.#columns = columns ?? null;
    // Until it has answered.
    named.delete(name);
    // Send everything in one packet.
    connection.stream.cork();
    if (this.#searchPath !== null) {
      this.#isSetting = true;
      connection.parse({ name: '', text: SET_SEARCH_PATH, types: [] }, true);
      connection.bind({ statement: '', values: [this.#searchPath] }, true);
      connection.execute({}, true);
    }
    if (columns === undefined) {
      // The server may still have it. Closing an unknown statement is not an error.
      if (name !== '') connection.close({ type: 'S', name }, true);
      connection.parse({ name, text, types: [] }, true);
    }
    connection.bind({ statement: name, values: this.#values as string[] }, true);
    if (this.#columns === null) connection.describe({ type: 'P', name: '' }, true);
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
    else this.tag = text;
  }

  handleReadyForQuery(): void {
    if (this.#failed !== null) {
      this.callback(this.#failed.error);
      return;
    }
    if (this.name !== '')
      this.#named?.set(this.name, MAY_CHANGE.test(this.text) ? null : (this.#columns ?? []));
    this.callback(null, { rows: this.#rows, affected: affectedBy(this.tag) });
  }

  handleError(error: unknown): void {
    this.callback(error);
  }

  handleEmptyQuery(): void {}

  handlePortalSuspended(): void {}

  handleCopyInResponse(connection: { sendCopyFail(reason: string): void }): void {
    connection.sendCopyFail('COPY has no source here');
  }

  handleCopyData(): void {}
}

/**
 * One or several statements without parameters and without rows. An empty text checks that the
 * server is alive. Older versions of `pg` apply their time limit only to a `Submittable`.
 */
export class PostgresCommand extends PostgresStatement {
  constructor(text: string, query_timeout: number, callback: (error: unknown) => void) {
    const parserOf = () => String;
    super({ text, name: '', parameters: [], parserOf, searchPath: null, query_timeout }, callback);
  }

  override submit(connection: Connection): void {
    connection.query(this.text);
  }
}

interface Field {
  readonly name: string;
  readonly dataTypeID: number;
}

/** `*` as the columns of a table, or `TABLE t`, which means the same. */
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
