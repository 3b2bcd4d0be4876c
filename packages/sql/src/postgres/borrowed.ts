import type { PoolClient } from 'pg';
import { ConfigurationError } from '../errors.ts';
import { Borrowing } from '../borrowing.ts';
import { needed, refusalOfOld } from '../driver.ts';
import type { Engine } from '../engine.ts';
import {
  numberOrNull,
  PoolEngine,
  type Pool,
  type PooledConnection,
  type PoolFigures,
  type PoolLimits,
} from '../pool.ts';
import { getRefusal } from './client.ts';
import {
  StatementNames,
  NO_LIMIT,
  getTimes,
  readTogether,
  toConnection,
  type Settings,
} from './connection.ts';
import { PG } from './engine.ts';
import { isStatementError } from './statement.ts';

/**
 * A `Pool` from `pg` 8.11 or later. The pool must use the JavaScript driver, not `pg-native`. This
 * type contains only the member that is the same in all releases.
 */
export interface PostgresPool {
  /** Passes a connection to the callback. */
  connect(callback: (error: Error | undefined, client: object | undefined) => void): void;
}

/**
 * Creates an engine on the application's own pool. The engine adds prepared statements to the
 * connections and changes nothing else.
 */
export function borrowPostgres(
  pool: PostgresPool,
  limits: PoolLimits,
  schema: string | null,
): Engine {
  const timeout = limits.statementTimeout ?? NO_LIMIT;
  // Keep the time limits that the application has set on the server. Only a store without time
  // limits, for example for migrations, turns them off in its transactions.
  const transactionTimes = limits.statementTimeout === null ? getTimes(limits) : null;
  const settings = {
    names: new StatementNames(schema),
    schema,
    limits,
    timeout,
    transactionTimes,
  };
  const lending = new LentPool(pool, settings);
  return new PoolEngine(
    async () => {
      const old = await refusalOfOld(PG, () => import('pg'), pool);
      if (old !== null) refuse(old);
      return lending;
    },
    isStatementError,
    limits,
    readTogether,
  );
}

/** Lends the connections of the application's pool. */
class LentPool implements Pool {
  readonly #pool: PostgresPool;
  readonly #settings: Settings;
  readonly #borrowing: Borrowing<PoolClient>;
  readonly #connections = new WeakMap<PoolClient, ReturnType<typeof toConnection>>();

  constructor(pool: PostgresPool, settings: Settings) {
    this.#pool = pool;
    this.#settings = settings;
    this.#borrowing = new Borrowing(
      settings.limits.timer,
      () =>
        new Promise<PoolClient>((resolve, reject) => {
          pool.connect((error, client) => {
            if (client === undefined) reject(error ?? new Error('The pool returned no connection'));
            else resolve(client as PoolClient);
          });
        }),
      (client) => client.release(),
    );
  }

  async connect(): Promise<PooledConnection> {
    for (;;) {
      const client = await this.#borrowing.take();
      // Without an `error` listener, a connection that breaks while it is in use would end the
      // process.
      client.on('error', ignore);
      const refusal = getRefusal(client);
      if (refusal !== null) {
        this.#giveBack(client, false);
        refuse(refusal);
      }
      const connection = this.#connectionOf(client);
      try {
        if (connection.isIdle() === null) await connection.askStatus();
      } catch (error) {
        this.#giveBack(client, true);
        throw error;
      }
      if (connection.isIdle() === true) return connection;
      // Close this connection, because the application returned it to the pool while a transaction
      // was open on it.
      this.#giveBack(client, true);
    }
  }

  end(): Promise<void> {
    return this.#borrowing.allBack();
  }

  figures(): PoolFigures {
    return getFigures(this.#pool);
  }

  #connectionOf(client: PoolClient): ReturnType<typeof toConnection> {
    const found = this.#connections.get(client);
    if (found !== undefined) return found;
    const created = toConnection(client, this.#settings, (broken) =>
      this.#giveBack(client, broken),
    );
    this.#connections.set(client, created);
    return created;
  }

  #giveBack(client: PoolClient, broken: boolean): void {
    client.removeListener('error', ignore);
    client.release(broken);
    this.#borrowing.isBack();
  }
}

function ignore(): void {}

function refuse(reason: string): never {
  const message = `fromPostgres() takes a Pool of ${needed(PG)}${reason}`;
  throw new ConfigurationError([{ key: 'database', message }]);
}

/** Returns the connection counts that `pg` reports about a pool. */
function getFigures(pool: object): PoolFigures {
  const { idleCount, options } = pool as {
    readonly idleCount?: unknown;
    readonly options?: { readonly max?: unknown };
  };
  return { idle: numberOrNull(idleCount), most: numberOrNull(options?.max) };
}
