import { hash } from 'node:crypto';
import { connect } from 'node:net';
import type { CustomTypesConfig, PoolClient } from 'pg';
import { loadDriver } from './driver.ts';
import type { Engine, StatementResult } from './engine.ts';
import { isAboutName, isOutdatedPlan } from './failures.ts';
import { createPoolEngine, type PooledConnection, type PoolLimits } from './pool.ts';
import { PostgresStatement, type KnownColumns } from './postgres-statement.ts';

/** How long a request waits for a connection, in milliseconds. */
const CONNECTION_TIMEOUT = 5000;

/** PostgreSQL through `pg`, which is imported only here: an application on SQLite need not install it. */
export function openPostgres(url: string, limits: PoolLimits): Engine {
  const { statementTimeout } = limits;
  const names = createStatementNames();
  return createPoolEngine({
    async open() {
      const { default: pg } = await loadDriver('pg', () => import('pg'));
      const types: CustomTypesConfig = {
        // 64-bit integers are times and counts here, which a number holds exactly.
        getTypeParser: (oid, format) =>
          oid === pg.types.builtins.INT8 && format !== 'binary'
            ? Number
            : pg.types.getTypeParser(oid, format),
      };
      const pool = new pg.Pool({
        connectionString: url,
        max: 10,
        connectionTimeoutMillis: CONNECTION_TIMEOUT,
        ...(statementTimeout === null ? {} : { query_timeout: statementTimeout }),
        keepAlive: true,
        types,
      });
      const connections = new WeakMap<PoolClient, PooledConnection>();
      // A connection that breaks fails the next statement on it; without these listeners it would end the process.
      pool.on('error', () => {});
      pool.on('connect', (client) => {
        client.on('error', () => {});
        connections.set(client, toConnection(client, names, types));
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

function toConnection(client: PoolClient, names: StatementNames, types: CustomTypesConfig): PooledConnection {
  const known: KnownColumns = new Map();
  return {
    execute(sql, parameters) {
      const text = numbered(sql);
      const name = names.of(text) ?? '';
      return new Promise<StatementResult>((resolve, reject) => {
        const statement = new PostgresStatement({ text, name, parameters, known, types }, (error, result) => {
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
    begin: () => client.query('BEGIN ISOLATION LEVEL READ COMMITTED'),
    async commit() {
      const { command } = await client.query('COMMIT');
      // The server does that after a failed statement whose error the work has swallowed.
      if (command === 'ROLLBACK') throw new Error('The transaction was rolled back: a statement had failed');
    },
    release: (broken) => client.release(broken),
  };
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

function createStatementNames(): StatementNames {
  const names = new Map<string, string>();
  let inUse = true;
  let schema = 0;
  return {
    of(text) {
      if (!inUse) return null;
      const known = names.get(text);
      if (known !== undefined) return known;
      if (names.size >= MOST_NAMES) return null;
      const name = `portico_${hash('sha256', `${schema} ${text}`, 'base64url').slice(0, 32)}`;
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
