import type { OpenedDatabase } from './opened.ts';
import type { SqlConnection, SqlDialect, SqlParameter, SqlResult } from './contract.ts';
import { dialectOf } from './dialects.ts';
import type { Engine, EngineConnection, StatementResult } from './engine.ts';
import { isUnavailable, isWorthRetrying } from './failures.ts';
import { OpenTransaction, refusalInside, type TransactionLimits } from './open-transaction.ts';
import { RESOLVE_WITHIN, resolveLostCommit, retrying } from './retrying.ts';
import { runTogether, type Together } from './together.ts';

/** What a database consists of. */
export interface DatabaseParts {
  readonly dialect: SqlDialect;
  /** PostgreSQL: the schema of its tables; null for where the connection's `search_path` leads. */
  readonly schema: string | null;
  readonly engine: Engine;
  /** Identifies the store: inside of one of its transactions it is only reached through the connection of that. */
  readonly store: object;
  readonly limits: TransactionLimits;
  readonly withoutTimeout: (itself: OpenedDatabase) => OpenedDatabase;
  /** Closes what else belongs to it. */
  readonly close: () => Promise<void>;
}

/** The store of the contract on an engine: refuses misuse of transactions, retries after conflicts, resolves lost commits. */
export function createDatabase({ dialect, schema, store, limits, ...parts }: DatabaseParts): OpenedDatabase {
  const engine = refusingInside(parts.engine, store);
  const retries = { statements: 0, transactions: 0 };
  const onRetry = () => (retries.transactions += 1);
  const { isEmbedded } = dialectOf({ dialect });
  const statements = isEmbedded ? engine : retryingStatements(engine, () => (retries.statements += 1));
  const connection = sqlConnection(statements);
  const endReads = (together: Together) => engine.endReads(together);
  // No server comes back to an embedded engine: what is wrong with its disk stays so, and every write would wait for it.
  const within = isEmbedded ? 0 : RESOLVE_WITHIN;
  const resolve = (committed: () => Promise<boolean>) => resolveLostCommit(committed, within, limits.timer);

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
        let done: { readonly result: Awaited<ReturnType<typeof work>> } | null = null as typeof done;
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
          // A conflict undid everything, and is done again: what was asked about must not be, a no is for good.
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

/** Inside of a transaction everything else would wait: on SQLite for ever, on a server once the last connection is taken. */
function refusingInside(engine: Engine, store: object): Engine {
  return {
    execute(sql, parameters, onUnknown) {
      const refusal = refusalInside(store);
      return refusal === null ? engine.execute(sql, parameters, onUnknown) : Promise.reject(refusal);
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

/** A statement outside of transactions runs again after a conflict with others. */
function retryingStatements(engine: Engine, onRetry: () => void): Pick<Engine, 'execute'> {
  return {
    execute: (sql, parameters, onUnknown) =>
      retrying(() => engine.execute(sql, parameters, onUnknown), onRetry),
  };
}
