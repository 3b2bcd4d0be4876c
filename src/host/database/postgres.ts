import { hash } from 'node:crypto';
import { connect } from 'node:net';
import type { PoolClient, QueryConfig } from 'pg';
import { ConfigurationError } from '../../contracts/errors.ts';
import { quotedSchema } from '../../sql/schema.ts';
import { createBorrowing } from './borrowing.ts';
import { loadDriver } from './driver.ts';
import type { Engine, StatementResult } from './engine.ts';
import { isAboutName, isOutdatedPlan } from './failures.ts';
import type { PostgresPool } from './pools.ts';
import { createPoolEngine, type PooledConnection, type PoolLimits } from './pool.ts';
import { PostgresStatement, type KnownColumns } from './postgres-statement.ts';

/** How long a request waits for a connection, in milliseconds. */
const CONNECTION_TIMEOUT = 5000;
/** The longest time limit that a timer has, in milliseconds: 24 days. `pg` takes none for that of the pool. */
const NO_LIMIT = 2 ** 31 - 1;

/** What the statements of an engine have in common. */
interface Settings {
  readonly names: StatementNames;
  /** The schema that tables are looked for in; null for where the connection's `search_path` leads. */
  readonly schema: string | null;
  readonly limits: PoolLimits;
}

/** PostgreSQL through `pg`, which is imported only here: an application on SQLite need not install it. */
export function openPostgres(
  url: string,
  limits: PoolLimits & { readonly size: number },
  schema: string | null,
): Engine {
  const settings = { names: createStatementNames(schema), schema, limits };
  return createPoolEngine({
    async open() {
      const { default: pg } = await loadDriver('pg', () => import('pg'));
      const pool = new pg.Pool({
        connectionString: url,
        max: limits.size,
        connectionTimeoutMillis: CONNECTION_TIMEOUT,
        keepAlive: true,
      });
      const connections = new WeakMap<PoolClient, PooledConnection>();
      // A connection that breaks fails the next statement on it; without these listeners it would end the process.
      pool.on('error', () => {});
      pool.on('connect', (client) => {
        client.on('error', () => {});
        connections.set(
          client,
          toConnection(client, settings, (broken) => client.release(broken)),
        );
      });
      return {
        connect: () =>
          new Promise((resolve, reject) => {
            pool.connect((error, client) => {
              const connection = client && connections.get(client);
              if (connection === undefined) reject(error ?? new Error('The pool gave no connection'));
              else resolve(connection);
            });
          }),
        end: () => pool.end(),
      };
    },
    isStatementError,
    limits,
  });
}

/** On the application's own pool. Nothing of its connections stays changed, but for statements that were prepared on them. */
export function borrowPostgres(pool: PostgresPool, limits: PoolLimits, schema: string | null): Engine {
  const settings = { names: createStatementNames(schema), schema, limits };
  const connections = new WeakMap<PoolClient, PooledConnection>();
  const ignore = () => {};
  const borrowing = createBorrowing(
    limits.timer,
    () =>
      new Promise<PoolClient>((resolve, reject) => {
        pool.connect((error, client) => {
          if (client === undefined) reject(error ?? new Error('The pool gave no connection'));
          else resolve(client as PoolClient);
        });
      }),
    (client) => client.release(),
  );
  const giveBack = (client: PoolClient, broken: boolean) => {
    client.removeListener('error', ignore);
    client.release(broken);
    borrowing.isBack();
  };
  return createPoolEngine({
    open: async () => ({
      async connect() {
        for (;;) {
          const client = await borrowing.take();
          // While it is out, a connection that breaks would end the process.
          client.on('error', ignore);
          const refusal = refusalOf(client);
          if (refusal !== null) {
            giveBack(client, false);
            throw new ConfigurationError([{ key: 'database', message: refusal }]);
          }
          let connection = connections.get(client);
          connection ??= toConnection(client, settings, (broken) => giveBack(client, broken));
          connections.set(client, connection);
          if (connection.isIdle() === true) return connection;
          // The application gave it back in the middle of a transaction.
          giveBack(client, true);
        }
      },
      end: () => borrowing.allBack(),
    }),
    isStatementError,
    limits,
  });
}

/** What `pg` knows of a connection; its types do not say so. */
interface ClientOptions {
  readonly connection?: { readonly stream?: unknown };
  readonly pipeline?: boolean;
  readonly getTransactionStatus?: unknown;
}

function refusalOf(client: PoolClient): string | null {
  const { connection, pipeline, getTransactionStatus } = client as unknown as ClientOptions;
  if (connection?.stream === undefined) return 'fromPostgres() takes a Pool of pg; pg-native cannot be used';
  if (pipeline === true) return 'fromPostgres() takes a Pool of pg without its option pipeline';
  if (getTransactionStatus === undefined) return 'fromPostgres() takes a Pool of pg 8.23 or later';
  return null;
}

/** Types of a number that one of JavaScript holds exactly here: int8, int2, int4, oid, float4, float8. */
const NUMBERS: ReadonlySet<number> = new Set([20, 21, 23, 26, 700, 701]);
/** Those that stay text, as `pg` has them by itself: name, text, varchar, and numeric, which the sum of int8 is. */
const TEXTS: ReadonlySet<number> = new Set([19, 25, 1043, 1700]);

const asText = (text: string) => text;

function toConnection(
  client: PoolClient,
  { names, schema, limits }: Settings,
  release: (broken: boolean) => void,
): PooledConnection {
  const known: KnownColumns = new Map();
  const searchPath = schema === null ? null : quotedSchema(schema);
  const timeout = limits.statementTimeout ?? NO_LIMIT;
  /** The others are read as the application has told `pg`. */
  const parserOf = (type: number): ((text: string) => unknown) => {
    if (NUMBERS.has(type)) return Number;
    if (TEXTS.has(type)) return asText;
    return client.getTypeParser(type, 'text') as (text: string) => unknown;
  };
  const control = (text: string) => client.query(withTimeout(text, timeout));
  const begin = [
    'BEGIN ISOLATION LEVEL READ COMMITTED',
    ...(searchPath === null ? [] : [`SET LOCAL search_path TO ${searchPath}`]),
    ...(limits.statementTimeout === null && limits.connectionLifetime === null
      ? ['SET LOCAL statement_timeout TO 0', 'SET LOCAL idle_in_transaction_session_timeout TO 0']
      : []),
  ].join('; ');
  let isInTransaction = false;
  return {
    execute(sql, parameters) {
      const text = numbered(sql);
      const name = names.of(text) ?? '';
      const path = isInTransaction ? null : searchPath;
      const options = { text, name, parameters, known, parserOf, searchPath: path, query_timeout: timeout };
      return new Promise<StatementResult>((resolve, reject) => {
        const statement = new PostgresStatement(options, (error, result) => {
          if (result !== undefined) {
            resolve(result);
            return;
          }
          if (name !== '' && isAboutName(error)) names.failed(error);
          if (isTimeout(error)) void cancel(client).then(() => reject(error));
          else reject(error);
        });
        client.query(statement);
      });
    },
    begin() {
      isInTransaction = true;
      return control(begin);
    },
    async commit() {
      const { command } = await control('COMMIT');
      // The server does that after a failed statement whose error the work has swallowed.
      if (command === 'ROLLBACK') throw new Error('The transaction was rolled back: a statement had failed');
    },
    isIdle: () => client.getTransactionStatus() === 'I',
    release(broken) {
      isInTransaction = false;
      release(broken);
    },
  };
}

/** A statement that begins or ends a transaction. The types of `pg` do not know of its own time limit. */
function withTimeout(text: string, timeout: number): QueryConfig {
  return { text, query_timeout: timeout } as QueryConfig;
}

/** `pg` stopped waiting; its error has no code. */
function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}

/** What `pg` knows of the server's process; its types do not say so. */
interface ServerProcess {
  readonly processID: number;
  readonly secretKey: number;
}

/** How long a request waits for the server to be told that it need not go on, in milliseconds. */
const CANCEL_TIMEOUT = 1000;
/** The code of a CancelRequest (PostgreSQL, section 55.7, "Message Formats"). */
const CANCEL_REQUEST = 80_877_102;

/**
 * Has the server end what it executes for this connection. It does not notice that nobody waits any more, and a statement that waits
 * for a lock would take effect whenever that is released, perhaps long after its use was answered 503.
 */
function cancel(client: PoolClient): Promise<void> {
  const { host, port } = client;
  const { processID, secretKey } = client as unknown as ServerProcess;
  const request = Buffer.alloc(16);
  [request.length, CANCEL_REQUEST, processID, secretKey].forEach((part, index) =>
    request.writeInt32BE(part, index * 4),
  );
  return new Promise((resolve) => {
    const socket = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
    socket.setTimeout(CANCEL_TIMEOUT, () => socket.destroy());
    socket.on('error', () => {});
    socket.once('close', () => resolve());
    socket.end(request);
  });
}

/** Named statements are parsed and planned once for each connection. */
interface StatementNames {
  /** Null for a statement that runs without a name. Names are derived from texts: on no connection can one stand for another text. */
  of(text: string): string | null;
  failed(error: unknown): void;
}

/** Named statements at most: the server keeps each for as long as the connection lives. */
const MOST_NAMES = 256;

function createStatementNames(path: string | null): StatementNames {
  const names = new Map<string, string>();
  let inUse = true;
  let schema = 0;
  return {
    of(text) {
      if (!inUse) return null;
      const known = names.get(text);
      if (known !== undefined) return known;
      if (names.size >= MOST_NAMES) return null;
      const name = `portico_${hash('sha256', `${path ?? ''} ${schema} ${text}`, 'base64url').slice(0, 32)}`;
      names.set(text, name);
      return name;
    },
    failed(error) {
      names.clear();
      // The plan is outdated: every statement is planned anew, under another name.
      if (isOutdatedPlan(error)) schema += 1;
      // Otherwise a connection pooler hands sessions around, and will again: no names any more.
      else inUse = false;
    },
  };
}

/**
 * An error about a statement has an SQLSTATE as its code, of another class than those in which the server ends the connection:
 * it may do that after the statement's commit. Nor is it the one that says that nobody knows.
 */
function isStatementError(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && /^(?!08|57P|40003|E)[0-9A-Z]{5}$/.test(String(error.code))
  );
}

/** Texts whose placeholders are kept numbered, at most. */
const MOST_TEXTS = 1000;
const texts = new Map<string, string>();

function numbered(sql: string): string {
  let text = texts.get(sql);
  if (text === undefined) {
    text = numberedPlaceholders(sql);
    if (texts.size < MOST_TEXTS) texts.set(sql, text);
  }
  return text;
}

/** `?` placeholders become `$1`, `$2` and so on; those inside quotes are left alone. */
export function numberedPlaceholders(sql: string): string {
  let count = 0;
  return sql.replace(/'(?:[^']|'')*'|"(?:[^"]|"")*"|\?/g, (match) => {
    if (match !== '?') return match;
    count += 1;
    return `$${count}`;
  });
}
