import type { DatabaseConnections } from './opened.ts';
import type { SqlParameter, SqlResult } from './contract.ts';
import type { Together } from './together.ts';

export type StatementResult = SqlResult<Readonly<Record<string, unknown>>>;

export interface EngineConnection {
  /** Runs one statement in the engine's own dialect. Parameters are written `?`. */
  execute(sql: string, parameters: readonly SqlParameter[]): Promise<StatementResult>;
}

/** A database, as the kit uses it. Connects at the first statement. */
export interface Engine extends EngineConnection {
  /**
   * Runs one statement by itself. If it rejects and the outcome is unknown, it has called
   * `onUnknown` first.
   */
  execute(sql: string, parameters: readonly SqlParameter[], onUnknown?: () => void): Promise<StatementResult>;
  /**
   * Runs the work in one transaction: commits if it returns, rolls back if it throws. If it rejects
   * after the work and the outcome of the commit is unknown, it has called `onUnknown` first.
   */
  transaction<T>(work: (connection: EngineConnection) => Promise<T>, onUnknown?: () => void): Promise<T>;
  /**
   * Ends what these reads opened. Reads that directly follow each other may see the same moment.
   */
  endReads(together: Together): void;
  /** Its connections right now. Null where there is no pool. */
  connections(): DatabaseConnections | null;
  close(): Promise<void>;
}
