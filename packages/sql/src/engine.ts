import type { DatabaseConnections } from './opened.ts';
import type { SqlParameter, SqlResult } from './contract.ts';
import type { Together } from './together.ts';

export type StatementResult = SqlResult<Readonly<Record<string, unknown>>>;

export interface EngineConnection {
  /** Runs one statement of the engine's own dialect; parameters are written `?`. */
  execute(sql: string, parameters: readonly SqlParameter[]): Promise<StatementResult>;
}

/** A database as the kit speaks to it. Connects at the first statement. */
export interface Engine extends EngineConnection {
  /**
   * Runs one statement by itself. When it rejects and nobody knows whether the statement took effect, `onUnknown` was called
   * before.
   */
  execute(sql: string, parameters: readonly SqlParameter[], onUnknown?: () => void): Promise<StatementResult>;
  /**
   * Runs the work in one transaction: what it returns commits, what it throws rolls back. When it rejects after the work was done, and
   * nobody knows whether the commit took effect, `onUnknown` was called before.
   */
  transaction<T>(work: (connection: EngineConnection) => Promise<T>, onUnknown?: () => void): Promise<T>;
  /** Ends what reads that belong together have opened: those that follow each other at once may be read as of one moment. */
  endReads(together: Together): void;
  /** Its connections at this moment; null where it has no pool of them. */
  connections(): DatabaseConnections | null;
  close(): Promise<void>;
}
