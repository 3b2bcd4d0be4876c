import type { OpenedDatabase } from './opened.ts';
import type { SqlConnection, SqlDialect, SqlParameter, SqlResult } from './contract.ts';
import { getDialect } from './engines.ts';
import type { Engine, EngineConnection, StatementResult } from './engine.ts';
import { isUnavailable, isWorthRetrying } from './failures.ts';
import { OpenTransaction, refusalInside, type TransactionLimits } from './open-transaction.ts';
import { RESOLVE_WITHIN, resolveLostCommit, retrying } from './retrying.ts';
import { runTogether, type Together } from './together.ts';

/** What `createDatabase` needs to create a store. */
export interface DatabaseParts {
  readonly dialect: SqlDialect;
  /**
   * The schema that contains the tables, on PostgreSQL. If null, the connection's `search_path` is
   * used.
   */
  readonly schema: string | null;
  readonly engine: Engine;
  /**
   * Identifies the store. Until a transaction ends, its work may use this store only through the
   * transaction's connection.
   */
  readonly store: object;
  readonly limits: TransactionLimits;
  readonly withoutTimeout: (itself: OpenedDatabase) => OpenedDatabase;
  /** Closes everything that the database uses, except the engine. */
  readonly close: () => Promise<void>;
}

/**
 * Creates a store on an engine. The store rejects incorrect use of transactions and retries after
 * conflicts. If the response to a commit was lost, the store finds out whether the commit
 * succeeded.
 */
export function createDatabase({
  dialect,
  schema,
  store,
  limits,
  ...parts
}: DatabaseParts): OpenedDatabase {
  const engine = refusingInside(parts.engine, store);
  const retries = { statements: 0, transactions: 0 };
  const onRetry = () => (retries.transactions += 1);
  const { isEmbedded } = getDialect({ dialect });
  const statements = isEmbedded
    ? engine
    : retryingStatements(engine, () => (retries.statements += 1));
  const endReads = (together: Together) => engine.endReads(together);
  // Do not wait for an embedded engine. It has no server that could become available again, and
  // after a permanent disk error, every write would wait.
  const within = isEmbedded ? 0 : RESOLVE_WITHIN;
  const commits = new Commits({ engine, statements, store, limits, within });
  const database: OpenedDatabase = {
    dialect,
    schema,
    retries,
    execute: <Row>(
      sql: string,
      parameters: readonly SqlParameter[] = [],
      committed?: (connection: SqlConnection) => Promise<boolean>,
    ) =>
      (committed === undefined
        ? statements.execute(sql, parameters)
        : commits.execute(sql, parameters, committed)) as Promise<SqlResult<unknown>> as Promise<
        SqlResult<Row>
      >,
    transaction: (work, committed = async () => false) =>
      retrying(() => commits.transaction(work, committed), onRetry),
    readTogether: (work) => runTogether(work, endReads),
    isUnavailable,
    connections: () => engine.connections(),
    withoutTimeout: () => parts.withoutTimeout(database),
    async close() {
      await parts.close();
      await engine.close();
    },
  };
  return database;
}

interface CommitParts {
  readonly engine: Engine;
  readonly statements: { execute: Engine['execute'] };
  readonly store: object;
  readonly limits: TransactionLimits;
  /** How long to wait for a server that does not respond, in milliseconds. */
  readonly within: number;
}

/**
 * Runs writes. If the response to a commit was lost, calls the caller's `committed` to find out
 * whether the database contains the write. If it does, returns the result.
 */
class Commits {
  readonly #parts: CommitParts;
  readonly #connection: SqlConnection;

  constructor(parts: CommitParts) {
    this.#parts = parts;
    this.#connection = sqlConnection(parts.statements);
  }

  async execute(
    sql: string,
    parameters: readonly SqlParameter[],
    committed: (connection: SqlConnection) => Promise<boolean>,
  ): Promise<StatementResult> {
    let isUnknown = false;
    try {
      return await this.#parts.statements.execute(sql, parameters, () => (isUnknown = true));
    } catch (error) {
      if (!isUnknown) throw error;
      if (await this.#resolve(() => committed(this.#connection))) return { rows: [], affected: 1 };
      throw error;
    }
  }

  async transaction<T>(
    work: (connection: SqlConnection) => Promise<T>,
    committed: (connection: SqlConnection, result: T) => Promise<boolean>,
  ): Promise<T> {
    const { engine, store, limits } = this.#parts;
    let done: { readonly result: T } | null = null as typeof done;
    let isUnknown = false;
    try {
      return await engine.transaction(
        async (on) => {
          done = null;
          const result = await new OpenTransaction(store, on, limits).run((open) =>
            work(sqlConnection(open)),
          );
          done = { result };
          return result;
        },
        () => (isUnknown = true),
      );
    } catch (error) {
      // Do not call `committed` after a conflict, because the work must then run again. After
      // `committed` has returned `false`, the store must not run the work again (see
      // `Database.transaction`).
      if (done === null || isWorthRetrying(error) || !isUnknown) throw error;
      const { result } = done;
      if (await this.#resolve(() => committed(this.#connection, result))) return result;
      throw error;
    }
  }

  #resolve(committed: () => Promise<boolean>): Promise<boolean> {
    const { within, limits } = this.#parts;
    return resolveLostCommit(committed, within, limits.timer);
  }
}

function sqlConnection(on: EngineConnection): SqlConnection {
  return {
    execute: <Row>(sql: string, parameters: readonly SqlParameter[] = []) =>
      on.execute(sql, parameters) as Promise<SqlResult<unknown>> as Promise<SqlResult<Row>>,
  };
}

/**
 * Rejects statements that the work of a transaction runs on the store and not on its connection.
 * Such a statement would not be part of the transaction. On a server, it could also wait for a lock
 * or a connection that the transaction holds.
 */
function refusingInside(engine: Engine, store: object): Engine {
  return {
    execute(sql, parameters, onUnknown) {
      const refusal = refusalInside(store);
      return refusal === null
        ? engine.execute(sql, parameters, onUnknown)
        : Promise.reject(refusal);
    },
    transaction(work, onUnknown) {
      const refusal = refusalInside(store);
      return refusal === null ? engine.transaction(work, onUnknown) : Promise.reject(refusal);
    },
    endReads: (together) => engine.endReads(together),
    connections: () => engine.connections(),
    close: () => engine.close(),
  };
}

/** Runs statements outside a transaction, and retries each statement after a conflict. */
function retryingStatements(engine: Engine, onRetry: () => void): { execute: Engine['execute'] } {
  return {
    execute: (sql, parameters, onUnknown) =>
      retrying(() => engine.execute(sql, parameters, onUnknown), onRetry),
  };
}
