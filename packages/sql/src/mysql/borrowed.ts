import type { Pool, PoolConnection, QueryOptions, ResultSetHeader } from 'mysql2';
import { ConfigurationError } from '../errors.ts';
import type { SqlParameter } from '../contract.ts';
import { Borrowing } from '../borrowing.ts';
import { needed, refusalOfOld } from '../driver.ts';
import type { Engine, StatementResult } from '../engine.ts';
import {
  ask,
  getFigures,
  isStatementError,
  isUnknownVariable,
  MYSQL2,
  promised,
  toHeader,
} from './engine.ts';
import {
  PoolEngine,
  type Pool as LendingPool,
  type PooledConnection,
  type PoolLimits,
} from '../pool.ts';
import { assign, GALERA, IN_TRANSACTION, restore, save, SessionChanges, WHOLE } from './session.ts';

/**
 * A pool from `mysql2` 3.9 or later, or from `mysql2/promise`. This type contains only the member
 * that is the same in all releases.
 */
export interface MysqlPool {
  /** Gets a connection from the pool. */
  readonly getConnection: (...given: never[]) => unknown;
}

/** Properties of a connection that do not change while it is open. */
interface Known {
  /**
   * The name of the variable for the isolation level. It is different in MariaDB and in MySQL 8.
   */
  readonly isolation: string;
  /**
   * Whether the server is a Galera node. A Galera node can wait until it has applied the commits of
   * the other nodes.
   */
  readonly isGalera: boolean;
  /**
   * Whether the server counts the rows that an UPDATE matched. If false, it counts only the rows
   * that changed.
   */
  readonly countsMatched: boolean;
}

/**
 * Creates an engine on the application's own pool. Portico configures the session before each use
 * of a connection, and restores it afterwards. This adds two round trips: one before the statement,
 * and one after its result.
 */
export function borrowMysql(given: MysqlPool, limits: PoolLimits): Engine {
  const pool = corePool(given);
  const connections = new WeakMap<PoolConnection, Promise<Known>>();
  const borrowing = new Borrowing(
    limits.timer,
    () => promised<PoolConnection>((done) => pool.getConnection(done)),
    (connection) => connection.release(),
  );

  function getKnown(connection: PoolConnection): Promise<Known> {
    let known = connections.get(connection);
    if (known === undefined) {
      known = askKnown(connection);
      connections.set(connection, known);
    }
    return known;
  }

  const lending: LendingPool = {
    async connect() {
      for (;;) {
        const lent = await borrowing.take();
        try {
          const known = await getKnown(lent);
          const before = await tell(lent, known);
          if (before !== null)
            return toConnection(lent, { known, before, limits }, () => borrowing.isBack());
          // Close this connection, because the application returned it to the pool while a
          // transaction was open on it.
          lent.destroy();
          borrowing.isBack();
        } catch (error) {
          if (isConfiguration(error)) lent.release();
          else lent.destroy();
          borrowing.isBack();
          throw error;
        }
      }
    },
    end: () => borrowing.allBack(),
    figures: () => getFigures(pool),
  };
  return new PoolEngine(
    async () => {
      const old = await refusalOfOld(MYSQL2, () => import('mysql2'), pool);
      if (old !== null) refuse(old);
      return lending;
    },
    isStatementError,
    limits,
  );
}

const isConfiguration = (error: unknown) => error instanceof ConfigurationError;

function refuse(message: string): never {
  throw new ConfigurationError([
    { key: 'database', message: `fromMysql() takes a pool of ${needed(MYSQL2)}${message}` },
  ]);
}

function corePool(given: MysqlPool): Pool {
  const core: unknown = 'pool' in given ? given.pool : given;
  const isPool =
    typeof core === 'object' &&
    core !== null &&
    'promise' in core &&
    typeof core.promise === 'function';
  return isPool ? (core as Pool) : refuse(', or of mysql2/promise');
}

/**
 * The time limit for statements that read or change the session, in milliseconds. It is the same as
 * for other statements.
 */
const TIMEOUT = { timeout: 10_000 };

/**
 * The driver's options for Portico's statements. They override the pool's options. The pool's
 * options remain only for column types that Portico's tables do not use.
 */
const OPTIONS: Partial<QueryOptions> = {
  namedPlaceholders: false,
  rowsAsArray: false,
  nestTables: false,
  typeCast(field, next) {
    if (field.type !== 'LONGLONG') return next();
    const text = field.string();
    const number = Number(text);
    return text === null || !Number.isSafeInteger(number) ? text : number;
  },
};

const MARIADB = /mariadb/i;
/** The value of the flag CLIENT_FOUND_ROWS. */
const FOUND_ROWS = 2;

/** Properties of the driver's connection that the driver's types do not declare. */
interface ConnectionConfig {
  readonly clientFlags: number;
  readonly queryFormat?: unknown;
}

async function askKnown(connection: PoolConnection): Promise<Known> {
  const { clientFlags, queryFormat } = connection.config as unknown as ConnectionConfig;
  if (queryFormat !== undefined) refuse(' without its option queryFormat');
  const answer = await ask(
    connection,
    'SELECT VERSION() AS version, @@SESSION.character_set_client AS charset',
    [],
    { ...OPTIONS, ...TIMEOUT },
  );
  const [row] = answer as unknown as readonly {
    readonly version: string;
    readonly charset: string;
  }[];
  if (row?.charset !== 'utf8mb4') refuse(` whose charset is utf8mb4, not ${row?.charset}`);
  const isMariadb = MARIADB.test(row.version);
  return {
    isolation: isMariadb ? 'tx_isolation' : 'transaction_isolation',
    isGalera: isMariadb && (await askGalera(connection)),
    countsMatched: (clientFlags & FOUND_ROWS) !== 0,
  };
}

async function askGalera(connection: PoolConnection): Promise<boolean> {
  try {
    const answer = await ask(connection, 'SELECT @@SESSION.wsrep_on AS galera', [], {
      ...OPTIONS,
      ...TIMEOUT,
    });
    const [row] = answer as unknown as readonly { readonly galera: unknown }[];
    return Number(row?.galera) === 1;
  } catch (error) {
    if (isUnknownVariable(error)) return false;
    throw error;
  }
}

/** The value of the flag SERVER_STATUS_AUTOCOMMIT. */
const AUTOCOMMIT = 2;

/** The statement that restores the session. */
interface Before {
  readonly restore: string;
}

/**
 * Configures the session, and saves the old values in session variables. Returns null if a
 * transaction is open.
 */
async function tell(
  connection: PoolConnection,
  { isolation, isGalera }: Known,
): Promise<Before | null> {
  const settle = async (sql: string) =>
    (await ask(connection, sql, [], { ...OPTIONS, ...TIMEOUT })) as ResultSetHeader & {
      readonly serverStatus: number;
    };
  const settings = [
    ...WHOLE,
    [isolation, "'READ-COMMITTED'"] as const,
    ...(isGalera ? GALERA : []),
  ];
  // Check for an open transaction first, because changing `autocommit` would commit the
  // transaction.
  const { serverStatus } = await settle(`SET ${save(settings)}, ${assign(settings)}`);
  if ((serverStatus & IN_TRANSACTION) !== 0) return null;
  const commits = (serverStatus & AUTOCOMMIT) !== 0;
  if (!commits) await settle('SET SESSION autocommit = 1');
  return {
    restore: `SET ${commits ? '' : 'SESSION autocommit = 0, '}${restore(settings)}`,
  };
}

function toConnection(
  connection: PoolConnection,
  {
    known,
    before,
    limits,
  }: { readonly known: Known; readonly before: Before; readonly limits: PoolLimits },
  isBack: () => void,
): PooledConnection {
  const { statementTimeout } = limits;
  const options = {
    ...OPTIONS,
    ...(statementTimeout === null ? {} : { timeout: statementTimeout }),
  };
  const changes = new SessionChanges();
  const execute = async (
    sql: string,
    parameters: readonly SqlParameter[] = [],
  ): Promise<StatementResult> => {
    const answer = await changes.watch(sql, () => ask(connection, sql, parameters, options));
    if (Array.isArray(answer)) return { rows: answer, affected: 0 };
    return toHeader(answer, known.countsMatched ? answer.affectedRows : matchedBy(sql, answer));
  };
  return {
    execute(sql, parameters) {
      changes.add(sql);
      return execute(sql, parameters);
    },
    begin: () => execute('START TRANSACTION READ WRITE'),
    commit: () => execute('COMMIT'),
    isIdle: () => changes.isIdle,
    askStatus: () => execute('DO 0'),
    release(broken) {
      void putBack(connection, broken || changes.remain ? null : before.restore).then(isBack);
    },
  };
}

/**
 * Restores the session and returns the connection to its pool. If that fails, drops the connection.
 */
async function putBack(connection: PoolConnection, restore: string | null): Promise<void> {
  if (restore === null) {
    connection.destroy();
    return;
  }
  try {
    await ask(connection, restore, [], { ...OPTIONS, ...TIMEOUT });
    connection.release();
  } catch {
    connection.destroy();
  }
}

const UPDATES = /^\s*UPDATE\b/i;

/**
 * Returns how many rows matched. After an UPDATE, the server sends a localized message whose first
 * number counts the matched rows and whose second number counts the changed rows.
 */
function matchedBy(sql: string, { affectedRows, info }: ResultSetHeader): number {
  const matched = UPDATES.test(sql) ? /\d+/.exec(info)?.[0] : undefined;
  return matched === undefined ? affectedRows : Number(matched);
}
