import type { Pool, PoolConnection, QueryOptions, ResultSetHeader } from 'mysql2';
import { ConfigurationError } from '../errors.ts';
import type { SqlParameter } from '../contract.ts';
import { createBorrowing } from '../borrowing.ts';
import { needed, refusalOfOld } from '../driver.ts';
import type { Engine, StatementResult } from '../engine.ts';
import {
  ask,
  figuresOf,
  GALERA,
  isStatementError,
  isUnknownVariable,
  MYSQL2,
  promised,
  toHeader,
} from './engine.ts';
import { PoolEngine, type Pool as LendingPool, type PooledConnection, type PoolLimits } from '../pool.ts';
import { isAboutSession } from './session.ts';

/** A pool of `mysql2` 3.9 or later, or of its `mysql2/promise`: as much of its type as all releases have. */
export interface MysqlPool {
  /** Gives out a connection. */
  readonly getConnection: (...given: never[]) => unknown;
}

/** What is known of a connection for as long as it lives. */
interface Known {
  /** The name of the variable that holds the isolation level: MariaDB and MySQL 8 name it differently. */
  readonly isolation: string;
  /** Whether it is a node of Galera, which reads what all of them have committed if it is told to. */
  readonly isGalera: boolean;
  /** Whether the server counts the rows that an UPDATE matched; otherwise those that it changed. */
  readonly countsMatched: boolean;
}

/**
 * On the application's own pool. Each use tells the session how it is to behave and then puts back what it was, which is two more
 * round trips: the second one when the answer is there already.
 */
export function borrowMysql(given: MysqlPool, limits: PoolLimits): Engine {
  const pool = corePool(given);
  const connections = new WeakMap<PoolConnection, Promise<Known>>();
  const borrowing = createBorrowing(
    limits.timer,
    () => promised<PoolConnection>((done) => pool.getConnection(done)),
    (connection) => connection.release(),
  );

  function knownOf(connection: PoolConnection): Promise<Known> {
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
          const known = await knownOf(lent);
          const before = await tell(lent, known);
          if (before !== null) return toConnection(lent, { known, before, limits }, () => borrowing.isBack());
          // The application gave it back in the middle of a transaction.
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
    figures: () => figuresOf(pool),
  };
  return new PoolEngine({
    async open() {
      const old = await refusalOfOld(MYSQL2, () => import('mysql2'), pool);
      if (old !== null) refuse(old);
      return lending;
    },
    isStatementError,
    limits,
  });
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
    typeof core === 'object' && core !== null && 'promise' in core && typeof core.promise === 'function';
  return isPool ? (core as Pool) : refuse(', or of mysql2/promise');
}

/** A request waits no longer for what belongs to a statement than for the statement, in milliseconds. */
const TIMEOUT = { timeout: 10_000 };

/**
 * What a statement of ours asks of the driver, whatever the pool was made with. Types that no table of ours has are read as the
 * application has told the driver.
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
/** CLIENT_FOUND_ROWS */
const FOUND_ROWS = 2;

/** What the driver knows of a connection; its types do not say so. */
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
  const [row] = answer as unknown as readonly { readonly version: string; readonly charset: string }[];
  if (row?.charset !== 'utf8mb4') refuse(` whose charset is utf8mb4, and not ${row?.charset}`);
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

const IN_TRANSACTION = 1;
const AUTOCOMMIT = 2;

/** What puts the session back as it was. */
interface Before {
  readonly restore: string;
}

/** Tells the session how to behave, and keeps what it was in variables of its own; null when a transaction is open. */
async function tell(connection: PoolConnection, { isolation, isGalera }: Known): Promise<Before | null> {
  const settle = async (sql: string) =>
    (await ask(connection, sql, [], { ...OPTIONS, ...TIMEOUT })) as ResultSetHeader & {
      readonly serverStatus: number;
    };
  // An open transaction would be committed by a change of `autocommit`, so that is looked at first.
  const { serverStatus } = await settle(
    `SET @portico_mode = @@SESSION.sql_mode, @portico_isolation = @@SESSION.${isolation}, ` +
      `SESSION sql_mode = 'TRADITIONAL', SESSION ${isolation} = 'READ-COMMITTED'` +
      (isGalera
        ? `, @portico_wait = @@SESSION.wsrep_sync_wait, @portico_dirty = @@SESSION.wsrep_dirty_reads, ${GALERA}`
        : ''),
  );
  if ((serverStatus & IN_TRANSACTION) !== 0) return null;
  const commits = (serverStatus & AUTOCOMMIT) !== 0;
  if (!commits) await settle('SET SESSION autocommit = 1');
  return {
    restore:
      `SET SESSION sql_mode = @portico_mode, SESSION ${isolation} = @portico_isolation, ` +
      `${commits ? '' : 'SESSION autocommit = 0, '}@portico_mode = NULL, @portico_isolation = NULL` +
      (isGalera
        ? ', SESSION wsrep_sync_wait = @portico_wait, SESSION wsrep_dirty_reads = @portico_dirty' +
          ', @portico_wait = NULL, @portico_dirty = NULL'
        : ''),
  };
}

function toConnection(
  connection: PoolConnection,
  { known, before, limits }: { readonly known: Known; readonly before: Before; readonly limits: PoolLimits },
  isBack: () => void,
): PooledConnection {
  const { statementTimeout } = limits;
  const options = { ...OPTIONS, ...(statementTimeout === null ? {} : { timeout: statementTimeout }) };
  let isChanged = false;
  let isIdle: boolean | null = null;
  const execute = async (sql: string, parameters: readonly SqlParameter[] = []): Promise<StatementResult> => {
    const answer = await ask(connection, sql, parameters, options);
    if (Array.isArray(answer)) {
      isIdle = null;
      return { rows: answer, affected: 0 };
    }
    isIdle = ((answer as unknown as { readonly serverStatus: number }).serverStatus & IN_TRANSACTION) === 0;
    return toHeader(answer, known.countsMatched ? answer.affectedRows : matchedBy(sql, answer));
  };
  return {
    execute(sql, parameters) {
      isChanged ||= isAboutSession(sql);
      return execute(sql, parameters);
    },
    begin: () => execute('START TRANSACTION READ WRITE'),
    commit: () => execute('COMMIT'),
    isIdle: () => isIdle,
    release(broken) {
      void putBack(connection, broken || isChanged ? null : before.restore).then(isBack);
    },
  };
}

/** Gives it back to its pool as it was, or gives it up. */
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

/** The server says behind an UPDATE, in its own language, how many rows it matched, then how many it changed. */
function matchedBy(sql: string, { affectedRows, info }: ResultSetHeader): number {
  const matched = UPDATES.test(sql) ? /\d+/.exec(info)?.[0] : undefined;
  return matched === undefined ? affectedRows : Number(matched);
}
