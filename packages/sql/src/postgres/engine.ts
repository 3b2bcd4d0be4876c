import type pg from 'pg';
import type { ClientConfig, PoolClient } from 'pg';
import { ConfigurationError } from '../errors.ts';
import { loadDriver, needed, refuseOldDriver, type Driver } from '../driver.ts';
import type { Engine, StatementResult } from '../engine.ts';
import { noConnection } from '../failures.ts';
import {
  PoolEngine,
  LONGER_THAN_THE_SERVER,
  type Pool,
  type PooledConnection,
  type PoolLimits,
} from '../pool.ts';
import {
  StatementNames,
  NO_LIMIT,
  readTogether,
  getTimes,
  toConnection,
  type Settings,
  type Times,
} from './connection.ts';
import { getRefusal } from './client.ts';
import { HostsPool, readPostgresUrl, type PostgresHost, type Wanted } from './hosts.ts';
import { isStatementError, PostgresStatement } from './statement.ts';

/** How long a request waits for a connection, in milliseconds. */
const CONNECTION_TIMEOUT = 5000;
/**
 * With several servers: how long a server may take to accept a connection before Portico tries the
 * next one, in milliseconds.
 */
const TIME_OF_A_HOST = 2000;

/** The driver for PostgreSQL. */
export const PG: Driver = { name: 'pg', least: '8.11' };

/**
 * Opens PostgreSQL through `pg`. Loads `pg` only when it is needed, so applications that use SQLite
 * need not install it.
 */
export function openPostgres(
  url: string,
  limits: PoolLimits & { readonly size: number },
  schema: string | null,
): Engine {
  const { hosts, wanted } = readPostgresUrl(url);
  refuseOldDriver(PG);
  const { statementTimeout } = limits;
  const timeout = statementTimeout === null ? NO_LIMIT : statementTimeout + LONGER_THAN_THE_SERVER;
  const settings = {
    names: new StatementNames(schema),
    schema,
    limits,
    timeout,
    transactionTimes: null,
  };
  const patience = hosts.length === 1 ? CONNECTION_TIMEOUT : TIME_OF_A_HOST;
  return new PoolEngine(
    async () => {
      const { default: driver } = await loadDriver(PG, () => import('pg'));
      const pools = hosts.map((host) => ({
        name: host.name,
        pool: openHost(driver, host, settings, wanted, limits.size, patience),
      }));
      return pools.length === 1 ? (pools[0] as { readonly pool: Pool }).pool : new HostsPool(pools);
    },
    isStatementError,
    limits,
    readTogether,
  );
}

/**
 * Opens the connections to one server. Configures the session of each connection once. `patience`
 * is how long the server may take to accept a connection, in milliseconds.
 */
function openHost(
  driver: typeof pg,
  { url }: PostgresHost,
  settings: Settings,
  wanted: Wanted,
  size: number,
  patience: number,
): Pool {
  const pool = new driver.Pool({
    connectionString: url,
    max: size,
    connectionTimeoutMillis: CONNECTION_TIMEOUT,
    keepAlive: true,
    // Set the limit here, because the pool's limit would include the time that a request waits for
    // a free connection.
    Client: class extends driver.Client {
      constructor(config?: ClientConfig) {
        super({ ...config, connectionTimeoutMillis: patience });
      }
    },
  });
  const connections = new WeakMap<PoolClient, PooledConnection>();
  // With these listeners, a broken connection does not end the process. The next statement on the
  // connection fails.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));

  async function greet(client: PoolClient): Promise<PooledConnection> {
    try {
      const session = await startSession(client, settings.limits, wanted, patience);
      const own = { ...settings, transactionTimes: session.isShared ? session.times : null };
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
            reject(error ?? new Error('The pool returned no connection'));
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

/** Configures a new connection's session. Throws if its server does not have the required role. */
async function startSession(
  client: PoolClient,
  limits: PoolLimits,
  wanted: Wanted,
  patience: number,
): Promise<Session> {
  const refusal = getRefusal(client);
  if (refusal !== null) {
    const message = `needs the package ${needed(PG)}${refusal}`;
    throw new ConfigurationError([{ key: 'database_url', message }]);
  }
  const session = await tellSession(client, limits, patience);
  if (wanted === 'any') return session;
  if (session.isStandby) throw noConnection('is a standby');
  if (wanted === 'read-write' && session.isReadOnly) throw noConnection('is read-only');
  return session;
}

/** The values that a server reports about a connection. */
interface Session {
  /**
   * Whether a pooler, for example PgBouncer, lets another client use the server session after each
   * transaction.
   */
  readonly isShared: boolean;
  readonly isReadOnly: boolean;
  readonly isStandby: boolean;
  /** The time limits for the session, or for each transaction if the session is shared. */
  readonly times: Times;
}

/**
 * Sets the session's time limits once: one for statements, and one for transactions whose client
 * has disconnected unnoticed. Lower limits of the server remain.
 *
 * Does not change a shared session, because the limits would also apply to other clients. A session
 * is shared if its process differs from the process that was reported when the connection started.
 * The limits are not start-up parameters, because PgBouncer would reject them.
 */
const TELL_SESSION = `SELECT shared::int AS "isShared", pg_catalog.pg_is_in_recovery()::int AS "isStandby",
    (pg_catalog.current_setting('transaction_read_only') = 'on')::int AS "isReadOnly",
    ${limited('statement_timeout', '$2')} AS "statementTime",
    ${limited('idle_in_transaction_session_timeout', '$3')} AS "idleTime"
  FROM (SELECT pg_catalog.pg_backend_pid() <> $1 AS shared) AS session`;

function limited(setting: string, milliseconds: string): string {
  const now = `pg_catalog.current_setting('${setting}')`;
  const isSmaller = `extract(epoch FROM ${now}::interval) * 1000 BETWEEN 1 AND ${milliseconds}::int`;
  return (
    `pg_catalog.set_config('${setting}', CASE WHEN ${isSmaller} THEN ${now} ELSE ` +
    `${milliseconds}::text END, shared)`
  );
}

async function tellSession(
  client: PoolClient,
  limits: PoolLimits,
  query_timeout: number,
): Promise<Session> {
  const { processID } = client as unknown as { readonly processID: number | null };
  const parameters = [processID ?? 0, ...getTimes(limits)];
  const options = {
    text: TELL_SESSION,
    name: '',
    parameters,
    searchPath: null,
    query_timeout,
  };
  const { rows } = await new Promise<StatementResult>((resolve, reject) => {
    const parserOf = () => String;
    client.query(
      new PostgresStatement({ ...options, parserOf }, (error, result) => {
        if (result === undefined) reject(error);
        else resolve(result);
      }),
    );
  });
  const [row] = rows;
  const text = (name: string) => String(row?.[name]);
  return {
    isShared: text('isShared') === '1',
    isReadOnly: text('isReadOnly') === '1',
    isStandby: text('isStandby') === '1',
    times: [text('statementTime'), text('idleTime')],
  };
}
