import { hash } from 'node:crypto';
import type { Connection, PoolClient } from 'pg';
import { quotedSchema } from './dialect.ts';
import type { StatementResult } from '../engine.ts';
import { isAboutName, rolledBack } from '../failures.ts';
import { isOutdatedPlan } from './failures.ts';
import { keptByText } from '../kept-by-text.ts';
import type { PooledConnection, PoolLimits } from '../pool.ts';
import type { Read, SharedAnswer } from '../shared-reads.ts';
import { BEFORE } from '../transaction-control.ts';
import { PostgresBatch } from './batch.ts';
import { PostgresCommand, PostgresStatement } from './statement.ts';

/**
 * The longest time that a timer can wait, in milliseconds (24 days). It is used as "no limit",
 * because `pg` has no value that turns off the pool's limit.
 */
export const NO_LIMIT = 2 ** 31 - 1;

/** The settings that all statements of an engine share. */
export interface Settings {
  readonly names: StatementNames;
  /** How long this process waits for a statement, in milliseconds. */
  readonly timeout: number;
  /** The schema that contains the tables. If null, the connection's `search_path` is used. */
  readonly schema: string | null;
  readonly limits: PoolLimits;
  /**
   * The time limits that each transaction sets, because the session has none or different ones.
   * Null if transactions set no limits.
   */
  readonly transactionTimes: Times | null;
}

/**
 * The column types that are read as JavaScript numbers: int8, int2, int4, oid, float4, float8. All
 * of Portico's values fit into a JavaScript number.
 */
const NUMBERS: ReadonlySet<number> = new Set([20, 21, 23, 26, 700, 701]);
/**
 * The column types that are read as text, as `pg` reads them: name, text, varchar and numeric. A
 * sum of int8 values is numeric.
 */
const TEXTS: ReadonlySet<number> = new Set([19, 25, 1043, 1700]);

const asText = (text: string) => text;

interface PostgresConnection extends PooledConnection {
  readTogether(reads: readonly Read[]): Promise<SharedAnswer>;
}

/** Runs reads of several callers in one round trip. Rejects if the connection failed. */
export function readTogether(
  connection: PooledConnection,
  reads: readonly Read[],
): Promise<SharedAnswer> {
  return (connection as PostgresConnection).readTogether(reads);
}

export function toConnection(
  client: PoolClient,
  { names, schema, timeout, transactionTimes }: Settings,
  release: (broken: boolean) => void,
): PostgresConnection {
  const searchPath = schema === null ? null : quotedSchema(schema);
  const parserOf = (type: number) => getParser(client, type);
  const control = (text: string) => sendCommand(client, text, timeout);
  const statusOf = watchStatus(client);
  const begin = beginningWith(searchPath, transactionTimes);
  let isInTransaction = false;
  let isChanged = false;
  const optionsOf = ({ sql, parameters }: Read) => {
    const text = numbered(sql);
    const name = names.of(text) ?? '';
    return { text, name, parameters, parserOf, searchPath, query_timeout: timeout };
  };
  return {
    execute(sql, parameters) {
      isChanged ||= changesSession(sql);
      const options = optionsOf({ sql, parameters });
      if (isInTransaction) options.searchPath = null;
      const { name } = options;
      return new Promise<StatementResult>((resolve, reject) => {
        const statement = new PostgresStatement(options, (error, result) => {
          if (result !== undefined) {
            resolve(result);
            return;
          }
          if (name !== '' && isAboutName(error)) names.failed(error);
          reject(error);
        });
        client.query(statement);
      });
    },
    readTogether(reads) {
      const statements = reads.map((read) => new PostgresStatement(optionsOf(read), () => {}));
      return new Promise<SharedAnswer>((resolve, reject) => {
        const options = { searchPath, query_timeout: timeout };
        const batch = new PostgresBatch(statements, options, (error, answer) => {
          if (answer === undefined) {
            reject(error);
            return;
          }
          if ('error' in answer) {
            const { failed, error: refusal } = answer;
            if (statements[failed]?.name !== '' && isAboutName(refusal)) names.failed(refusal);
          }
          resolve(answer);
        });
        client.query(batch);
      });
    },
    begin() {
      isInTransaction = true;
      return control(begin);
    },
    async commit() {
      const { tag } = await control('COMMIT');
      if (tag === 'ROLLBACK') throw rolledBack();
    },
    isIdle() {
      const status = statusOf();
      return status === null ? null : status === 'I';
    },
    askStatus: () => control(''),
    release(broken) {
      isInTransaction = false;
      release(broken || isChanged);
    },
  };
}

/**
 * Returns whether a statement changes settings of the session, which stay after its transaction.
 * Its connection must not be used again, because other statements would then also use them.
 */
const changesSession = keptByText((sql) => CHANGES_SESSION.test(sql));
const CHANGES_SESSION = new RegExp(
  String.raw`${BEFORE}(?:SET\b(?!\s+(?:LOCAL|TRANSACTION|CONSTRAINTS)\b)|RESET\b|DISCARD\b)|` +
    String.raw`\bset_config\s*\((?![^()]*,\s*true\s*\))`,
  'is',
);

/** Sends a command without parameters that returns no rows. */
function sendCommand(client: PoolClient, text: string, timeout: number): Promise<PostgresCommand> {
  return new Promise((resolve, reject) => {
    const command = new PostgresCommand(text, timeout, (error) => {
      if (error === null) resolve(command);
      else reject(error);
    });
    client.query(command);
  });
}

/**
 * Returns the parser for a column type. For types other than numbers and texts, the application's
 * `pg` settings apply.
 */
function getParser(client: PoolClient, type: number): (text: string) => unknown {
  if (NUMBERS.has(type)) return Number;
  if (TEXTS.has(type)) return asText;
  return client.getTypeParser(type, 'text') as (text: string) => unknown;
}

/**
 * Returns the statements that begin a transaction and set its `search_path` and its time limits. If
 * one of them is null, it is not set.
 */
function beginningWith(searchPath: string | null, times: Times | null): string {
  const statements = ['BEGIN ISOLATION LEVEL READ COMMITTED'];
  if (searchPath !== null) statements.push(`SET LOCAL search_path TO ${searchPath}`);
  if (times !== null) {
    const [statementTime, idleTime] = times;
    statements.push(
      `SET LOCAL statement_timeout TO '${statementTime}'`,
      `SET LOCAL idle_in_transaction_session_timeout TO '${idleTime}'`,
    );
  }
  return statements.join('; ');
}

/**
 * The server's time limits for a statement and for an idle transaction, in milliseconds, or as the
 * server reports them.
 */
export type Times = readonly [statement: number | string, idle: number | string];

/**
 * Returns the server's time limits for a statement and for an idle transaction, in milliseconds. 0
 * means that there is no limit. This process ends an idle transaction before the server would.
 */
export function getTimes({ statementTimeout, idleTimeout }: PoolLimits): readonly [number, number] {
  return [
    statementTimeout ?? 0,
    statementTimeout === null ? 0 : statementTimeout + (idleTimeout ?? 0),
  ];
}

/** The transaction status of a connection, as the server last reported it. */
interface Heard {
  status: string | null;
}
/** The status of each connection whose driver does not report it. */
const heard = new WeakMap<Connection, Heard>();

/**
 * Returns a function that returns a connection's transaction status. The status is `I` outside a
 * transaction, and null before the server's first response.
 */
function watchStatus(client: PoolClient): () => string | null {
  const { connection } = client;
  // `pg` reports the status since version 8.23.
  if ('getTransactionStatus' in client) return () => client.getTransactionStatus();
  const last = heard.get(connection) ?? { status: null };
  if (!heard.has(connection)) {
    heard.set(connection, last);
    // Update the status before `pg` continues the code that waits for the response.
    connection.prependListener('readyForQuery', ({ status }: { readonly status: string }) => {
      last.status = status;
    });
  }
  return () => last.status;
}

/**
 * The maximum number of named statements on a connection. The server stores them until the
 * connection closes.
 */
const MOST_NAMES = 256;

/**
 * Chooses the names of prepared statements. The server parses and plans a named statement only once
 * for each connection.
 */
export class StatementNames {
  readonly #path: string | null;
  readonly #names = new Map<string, string>();
  #inUse = true;
  #schema = 0;

  constructor(path: string | null) {
    this.#path = path;
  }

  /**
   * Returns the name of a statement, or null if the statement runs without a name. The name is
   * derived from the statement's text, so it never refers to another statement.
   */
  of(text: string): string | null {
    if (!this.#inUse) return null;
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    if (this.#names.size >= MOST_NAMES) return null;
    const named = hash('sha256', `${this.#path ?? ''} ${this.#schema} ${text}`, 'base64url');
    const name = `portico_${named.slice(0, 32)}`;
    this.#names.set(text, name);
    return name;
  }

  failed(error: unknown): void {
    this.#names.clear();
    // The plan is outdated. Plan all statements again under new names.
    if (isOutdatedPlan(error)) this.#schema += 1;
    // Any other error with a name means that a connection pooler shares sessions between clients.
    // Stop using names.
    else this.#inUse = false;
  }
}

const numbered = keptByText(numberedPlaceholders);

/**
 * Replaces the placeholders `?` with `$1`, `$2` and so on. Leaves question marks inside quotes
 * unchanged.
 */
export function numberedPlaceholders(sql: string): string {
  let count = 0;
  return sql.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|\?/g, (match) => {
    if (match !== '?') return match;
    count += 1;
    return `$${count}`;
  });
}
