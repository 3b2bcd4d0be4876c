import type { OpenedDatabase } from './opened.ts';
import type { SqlConnection, SqlDialect, SqlParameter, SqlResult } from './contract.ts';
import { getDialect } from './dialects.ts';
import type { Engine, EngineConnection, StatementResult } from './engine.ts';
import { isUnavailable, isWorthRetrying } from './failures.ts';
import { OpenTransaction, refusalInside, type TransactionLimits } from './open-transaction.ts';
import { RESOLVE_WITHIN, resolveLostCommit, retrying } from './retrying.ts';
import { runTogether, type Together } from './together.ts';

/** The parts that `createDatabase` assembles. */
export interface DatabaseParts {
  readonly dialect: SqlDialect;
  /**
   * The schema that contains the tables, on PostgreSQL. If it is null, the connection's
   * `search_path` is used.
   */
  readonly schema: string | null;
  readonly engine: Engine;
  /**
   * Identifies the store. While one of its transactions runs, its work may use the store only
   * through the transaction's connection.
   */
  readonly store: object;
  readonly limits: TransactionLimits;
  readonly withoutTimeout: (itself: OpenedDatabase) => OpenedDatabase;
  /** Closes everything that belongs to the database, except the engine. */
  readonly close: () => Promise<void>;
}

/**
 * Creates a store on an engine. The store rejects wrong uses of transactions, and retries after
 * conflicts. If the answer to a commit was lost, the store finds out whether the commit succeeded.
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
  const connection = sqlConnection(statements);
  const endReads = (together: Together) => engine.endReads(together);
  // Do not wait on an embedded engine, because there is no server that could come back. After a
  // lasting disk error, every write would wait.
  const within = isEmbedded ? 0 : RESOLVE_WITHIN;
  const resolve = (committed: () => Promise<boolean>) =>
    resolveLostCommit(committed, within, limits.timer);

  async function executeKnowing(
    sql: string,
    parameters: readonly SqlParameter[],
    committed: (connection: SqlConnection) => Promise<boolean>,
  ): Promise<StatementResult> {
    let isUnknown = false;
    try {
      return await statements.execute(sql, parameters, () => (isUnknown = true));
    } catch (error) {
      if (!isUnknown) throw error;
      if (await resolve(() => committed(connection))) return { rows: [], affected: 1 };
      throw error;
    }
  }

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
        : executeKnowing(sql, parameters, committed)) as Promise<SqlResult<unknown>> as Promise<
        SqlResult<Row>
      >,
    async transaction(work, committed = async () => false) {
      return retrying(async () => {
        let done: { readonly result: Awaited<ReturnType<typeof work>> } | null =
          null as typeof done;
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
          // After a conflict, the work runs again. Do not call `committed` then, because the work
          // must not run again after false.
          if (done === null || isWorthRetrying(error) || !isUnknown) throw error;
          const { result } = done;
          if (await resolve(() => committed(connection, result))) return result;
          throw error;
        }
      }, onRetry);
    },
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

function sqlConnection(on: EngineConnection): SqlConnection {
  return {
    execute: <Row>(sql: string, parameters: readonly SqlParameter[] = []) =>
      on.execute(sql, parameters) as Promise<SqlResult<unknown>> as Promise<SqlResult<Row>>,
  };
}

/**
 * Rejects statements on the store while one of its transactions runs. Such a statement would wait
 * forever on SQLite. On a server, it would wait as soon as all connections are in use.
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

/** Runs statements that are not in a transaction. Runs such a statement again after a conflict. */
function retryingStatements(engine: Engine, onRetry: () => void): { execute: Engine['execute'] } {
  return {
    execute: (sql, parameters, onUnknown) =>
      retrying(() => engine.execute(sql, parameters, onUnknown), onRetry),
  };
}
