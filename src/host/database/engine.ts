/** What a statement gave. */
export interface StatementResult {
  readonly rows: readonly Record<string, unknown>[];
  /** Rows that an INSERT, UPDATE or DELETE matched. */
  readonly affected: number;
  /** What the engine numbered an inserted row with, where it tells. */
  readonly insertId?: bigint;
}

export interface EngineConnection {
  /** Runs one statement, in the engine's own dialect and with its own placeholders. */
  execute(sql: string, parameters: readonly unknown[]): Promise<StatementResult>;
}

export interface TransactionSettings {
  readonly isolationLevel?: string | undefined;
  readonly accessMode?: string | undefined;
}

/** A connection that somebody has to himself, for statements and transactions of his own making. */
export interface EngineSession extends EngineConnection {
  begin(settings: TransactionSettings): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
  release(): void;
}

/** A database as the kit speaks to it. Connects at the first statement. */
export interface Engine extends EngineConnection {
  /** Runs the work in one transaction: what it returns commits, what it throws rolls back. */
  transaction<T>(work: (connection: EngineConnection) => Promise<T>): Promise<T>;
  /** Runs work whose reads belong together: what of it is read in one go may be read as of one moment. */
  readTogether<T>(work: () => Promise<T>): Promise<T>;
  session(): Promise<EngineSession>;
  close(): Promise<void>;
}
