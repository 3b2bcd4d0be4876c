/** What the authorization server and the host kit need of a relational store. An application can bring its own. */

/** The engines that an application can be on; MariaDB speaks `mysql`. */
export type SqlDialect = 'sqlite' | 'postgres' | 'mysql';

/** What a statement returns. */
export interface SqlResult<Row> {
  /** The rows of a SELECT, or of a RETURNING; empty for another statement. */
  readonly rows: readonly Row[];
  /** Rows that an INSERT, UPDATE or DELETE matched. */
  readonly affected: number;
  /**
   * After an INSERT of one row: the number that the engine gave it, exact beyond 2^53. Undefined where the engine does not
   * tell: PostgreSQL (use RETURNING), SQLite for an upsert or a table WITHOUT ROWID, a table that numbers no rows.
   */
  readonly insertId?: bigint | undefined;
}

/** Where statements run: the store, or one transaction of it. */
export interface SqlConnection {
  /**
   * Runs one statement. Parameters are written `?` for every dialect. 64-bit integers arrive as numbers. Rejects with the
   * engine's own error; `isUnavailable` tells whether the store was away.
   */
  execute<Row = Record<string, unknown>>(
    sql: string,
    parameters?: readonly SqlParameter[],
  ): Promise<SqlResult<Row>>;
}

/** A value for a `?` of a statement. The authorization server passes no bigint; an application may, such as an `insertId`. */
export type SqlParameter = string | number | bigint | null;

/** A relational store. */
export interface Database extends SqlConnection {
  /** The engine that it is. */
  readonly dialect: SqlDialect;
  /**
   * Runs the work in one transaction (`BEGIN IMMEDIATE` on SQLite, READ COMMITTED elsewhere): what it returns
   * commits, what it throws rolls back. A deadlock or a serialisation failure runs the work again, so it must
   * have no effect but its statements. The work uses only the connection it is given, and waits for nothing else: what
   * asks this store otherwise is refused at once, a statement after the end is refused too, and a transaction that has begun
   * with its statements and waits 2 seconds for something else, or lasts 30, is rolled back. All of these are a
   * `TransactionError`. The end waits for statements that the work has not awaited.
   *
   * When the store is lost while it commits, nobody knows whether it did. Then, and only then, `committed` is asked, as
   * soon as the store answers again: true makes the work's answer the transaction's, false or a store that stays away
   * makes it fail as unavailable.
   */
  transaction<T>(
    work: (connection: SqlConnection) => Promise<T>,
    committed?: (connection: SqlConnection, answer: T) => Promise<boolean>,
  ): Promise<T>;
  /**
   * Runs work whose reads answer one question together, such as what a token is good for. They see nothing older than the
   * moment the first of them runs, and on SQLite those that follow each other at once share one look at the file.
   */
  readTogether<T>(work: () => Promise<T>): Promise<T>;
  /** Whether an error says that the store cannot be reached or is too busy, as opposed to a wrong statement. */
  isUnavailable(error: unknown): boolean;
}
