import type pg from 'pg';
import type { ClientConfig, PoolClient } from 'pg';
import { ConfigurationError } from '../../contracts/errors.ts';
import { createBorrowing } from './borrowing.ts';
import { loadDriver, needed, refusalOfOld, refuseOldDriver } from './driver.ts';
import type { Engine, StatementResult } from './engine.ts';
import { noConnection } from './failures.ts';
import type { PostgresPool } from './pools.ts';
import {
  createPoolEngine,
  numberOrNull,
  LONGER_THAN_THE_SERVER,
  type Pool,
  type PooledConnection,
  type PoolFigures,
  type PoolLimits,
} from './pool.ts';
import {
  createStatementNames,
  isStatementError,
  timesOf,
  toConnection,
  type Settings,
} from './postgres-connection.ts';
import { createHostsPool, readPostgresUrl, type PostgresHost, type Wanted } from './postgres-hosts.ts';
import { PostgresStatement } from './postgres-statement.ts';

/** How long a request waits for a connection, in milliseconds. */
const CONNECTION_TIMEOUT = 5000;
/** How long one of several servers may take to let somebody in before the next one is asked, in milliseconds. */
const TIME_OF_A_HOST = 2000;
/** The longest time limit that a timer has, in milliseconds: 24 days. `pg` takes none for that of the pool. */
const NO_LIMIT = 2 ** 31 - 1;

/** PostgreSQL through `pg`, which is imported only here: an application on SQLite need not install it. */
export function openPostgres(
  url: string,
  limits: PoolLimits & { readonly size: number },
  schema: string | null,
): Engine {
  const { hosts, wanted } = readPostgresUrl(url);
  refuseOldDriver('pg');
  const { statementTimeout } = limits;
  const timeout = statementTimeout === null ? NO_LIMIT : statementTimeout + LONGER_THAN_THE_SERVER;
  const settings = {
    names: createStatementNames(schema),
    schema,
    limits,
    timeout,
    limitsTransactions: false,
  };
  const patience = hosts.length === 1 ? CONNECTION_TIMEOUT : TIME_OF_A_HOST;
  return createPoolEngine({
    async open() {
      const { default: driver } = await loadDriver('pg', () => import('pg'));
      const pools = hosts.map((host) => ({
        name: host.name,
        pool: openHost(driver, host, { settings, wanted, size: limits.size, patience }),
      }));
      return pools.length === 1 ? (pools[0] as { readonly pool: Pool }).pool : createHostsPool(pools);
    },
    isStatementError,
    limits,
  });
}

interface HostOptions {
  readonly settings: Settings;
  readonly wanted: Wanted;
  readonly size: number;
  /** How long the server may take to let somebody in, in milliseconds. */
  readonly patience: number;
}

/** The connections of one server. Each is told once what holds for its session. */
function openHost(
  driver: typeof pg,
  { url }: PostgresHost,
  { settings, wanted, size, patience }: HostOptions,
): Pool {
  const pool = new driver.Pool({
    connectionString: url,
    max: size,
    connectionTimeoutMillis: CONNECTION_TIMEOUT,
    keepAlive: true,
    // The pool's own limit is also for the wait until a connection is free.
    Client: class extends driver.Client {
      constructor(config?: ClientConfig) {
        super({ ...config, connectionTimeoutMillis: patience });
      }
    },
  });
  const connections = new WeakMap<PoolClient, PooledConnection>();
  // A connection that breaks fails the next statement on it; without these listeners it would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));

  async function greet(client: PoolClient): Promise<PooledConnection> {
    try {
      const refusal = refusalOf(client);
      if (refusal !== null) refuse('database_url', `needs the package ${needed('pg')}${refusal}`);
      const session = await tellSession(client, settings.limits, patience);
      if (wanted !== 'any' && (session.isStandby || (wanted === 'read-write' && session.isReadOnly)))
        throw noConnection(session.isStandby ? 'is a standby' : 'may only be read from');
      const own = { ...settings, limitsTransactions: session.isShared };
      const connection = toConnection(client, own, (broken) => client.release(broken));
      connections.set(client, connection);
      return connection;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  return {
    connect: () =>
      new Promise((resolve, reject) => {
        pool.connect((error, client) => {
          if (client === undefined) {
            reject(error ?? new Error('The pool gave no connection'));
            return;
          }
          const connection = connections.get(client);
          if (connection === undefined) greet(client).then(resolve, reject);
          else resolve(connection);
        });
      }),
    end: () => pool.end(),
    figures: () => ({ idle: pool.idleCount, most: size }),
  };
}

/** What a server says of a connection. */
interface Session {
  /** Whether somebody between, as PgBouncer, gives the server's session to another client after each transaction. */
  readonly isShared: boolean;
  readonly isReadOnly: boolean;
  readonly isStandby: boolean;
}

/**
 * Tells the session once how long a statement may take, and a transaction that nobody goes on with: a server does not notice that
 * nobody waits for it any more. A session that is shared is told nothing, since others would have it then: its process is not the one
 * that this connection was told of. As start-up parameters they would be refused by PgBouncer. A limit of the server's own that is
 * smaller stays.
 */
const TELL_SESSION = `SELECT shared::int AS "isShared", pg_catalog.pg_is_in_recovery()::int AS "isStandby",
    (pg_catalog.current_setting('transaction_read_only') = 'on')::int AS "isReadOnly",
    ${limited('statement_timeout', '$2')}, ${limited('idle_in_transaction_session_timeout', '$3')}
  FROM (SELECT pg_catalog.pg_backend_pid() <> $1 AS shared) AS session`;

function limited(setting: string, milliseconds: string): string {
  const now = `pg_catalog.current_setting('${setting}')`;
  const isSmaller = `extract(epoch FROM ${now}::interval) * 1000 BETWEEN 1 AND ${milliseconds}::int`;
  return `pg_catalog.set_config('${setting}', CASE WHEN ${isSmaller} THEN ${now} ELSE ${milliseconds}::text END, shared)`;
}

async function tellSession(client: PoolClient, limits: PoolLimits, query_timeout: number): Promise<Session> {
  const { processID } = client as unknown as { readonly processID: number | null };
  const parameters = [processID ?? 0, ...timesOf(limits)];
  const options = {
    text: TELL_SESSION,
    name: '',
    parameters,
    searchPath: null,
    query_timeout,
  };
  const { rows } = await new Promise<StatementResult>((resolve, reject) => {
    const parserOf = () => Number;
    client.query(
      new PostgresStatement({ ...options, parserOf }, (error, result) => {
        if (result === undefined) reject(error);
        else resolve(result);
      }),
    );
  });
  const [row] = rows;
  return {
    isShared: row?.['isShared'] === 1,
    isReadOnly: row?.['isReadOnly'] === 1,
    isStandby: row?.['isStandby'] === 1,
  };
}

/** On the application's own pool. Nothing of its connections stays changed, but for statements that were prepared on them. */
export function borrowPostgres(pool: PostgresPool, limits: PoolLimits, schema: string | null): Engine {
  const timeout = limits.statementTimeout ?? NO_LIMIT;
  // What limits a statement there is the application's choice, but for migrations.
  const limitsTransactions = limits.statementTimeout === null;
  const settings = { names: createStatementNames(schema), schema, limits, timeout, limitsTransactions };
  const connections = new WeakMap<PoolClient, ReturnType<typeof toConnection>>();
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
  const lending: Pool = {
    async connect() {
      for (;;) {
        const client = await borrowing.take();
        // While it is out, a connection that breaks would end the process.
        client.on('error', ignore);
        const refusal = refusalOf(client);
        if (refusal !== null) {
          giveBack(client, false);
          refuse('database', `${TAKES}${refusal}`);
        }
        let connection = connections.get(client);
        connection ??= toConnection(client, settings, (broken) => giveBack(client, broken));
        connections.set(client, connection);
        try {
          if (connection.isIdle() === null) await connection.askStatus();
        } catch (error) {
          giveBack(client, true);
          throw error;
        }
        if (connection.isIdle() === true) return connection;
        // The application gave it back in the middle of a transaction.
        giveBack(client, true);
      }
    },
    end: () => borrowing.allBack(),
    figures: () => figuresOf(pool),
  };
  return createPoolEngine({
    async open() {
      const old = await refusalOfOld('pg', () => import('pg'), pool);
      if (old !== null) refuse('database', `${TAKES}${old}`);
      return lending;
    },
    isStatementError,
    limits,
  });
}

const TAKES = `fromPostgres() takes a Pool of ${needed('pg')}`;

function refuse(key: string, message: string): never {
  throw new ConfigurationError([{ key, message }]);
}

/** What `pg` tells of a pool. */
function figuresOf(pool: object): PoolFigures {
  const { idleCount, options } = pool as {
    readonly idleCount?: unknown;
    readonly options?: { readonly max?: unknown };
  };
  return { idle: numberOrNull(idleCount), most: numberOrNull(options?.max) };
}

/** What is asked of a connection, whose driver need not be the one of the types. */
interface GivenClient {
  readonly connection?: Readonly<Record<string, unknown>>;
  readonly pipeline?: boolean;
  readonly getTypeParser?: unknown;
}
const ASKED = ['parse', 'bind', 'describe', 'execute', 'close', 'sync', 'query', 'prependListener'] as const;

/** Why it cannot be used, after the version that is needed; null if it can. */
function refusalOf(client: PoolClient): string | null {
  const { connection, pipeline, getTypeParser } = client as unknown as GivenClient;
  if (connection?.['stream'] === undefined) return '; pg-native cannot be used';
  if (pipeline === true) return ' without its option pipeline';
  const missing =
    typeof getTypeParser !== 'function' || ASKED.some((name) => typeof connection[name] !== 'function');
  return missing ? '; this one lacks what is needed' : null;
}
