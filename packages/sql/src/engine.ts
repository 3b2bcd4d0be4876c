import type { DatabaseConnections } from './opened.ts';
import type { SqlParameter, SqlResult } from './contract.ts';
import type { Together } from './together.ts';

export type StatementResult = SqlResult<Readonly<Record<string, unknown>>>;

export interface EngineConnection {
  /** Runs one statement in the engine's dialect. Write parameters as `?`. */
  execute(sql: string, parameters: readonly SqlParameter[]): Promise<StatementResult>;
}

/**
 * A database engine. It connects at its first statement. To add an engine:
 * 1. Create its folder with an `Engine` and a `Dialect`, and add its name to `SqlDialect`.
 * 2. Add a line in `engines.ts` and in `open-database.ts`.
 * 3. Add its URL to the error text in `open-database.ts`.
 */
export interface Engine extends EngineConnection {
  /**
   * Runs one statement outside a transaction. If the connection breaks and the outcome is unknown,
   * calls `onUnknown` before it rejects.
   */
  execute(
    sql: string,
    parameters: readonly SqlParameter[],
    onUnknown?: () => void,
  ): Promise<StatementResult>;
  /**
   * Runs the work in one transaction. Commits if the work returns, and rolls back if it throws. If
   * the outcome of the commit is unknown, calls `onUnknown` before it rejects.
   */
  transaction<T>(
    work: (connection: EngineConnection) => Promise<T>,
    onUnknown?: () => void,
  ): Promise<T>;
  /**
   * Ends the read transaction that was opened for this group of reads. Until then, consecutive
   * reads of the group may see the same snapshot.
   */
  endReads(together: Together): void;
  /** Returns the current connection counts, or null if there is no pool. */
  connections(): DatabaseConnections | null;
  close(): Promise<void>;
}
