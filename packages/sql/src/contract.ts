/**
 * What the authorization server and the host kit need from a relational store. An application can
 * bring its own.
 */

/** The engines that an application can use. MariaDB is `mysql`. */
export type SqlDialect = 'sqlite' | 'postgres' | 'mysql';

/** What a statement returns. */
export interface SqlResult<Row> {
  /** The rows of a SELECT, or of a RETURNING. Empty for any other statement. */
  readonly rows: readonly Row[];
  /** Rows that an INSERT, UPDATE or DELETE matched. */
  readonly affected: number;
  /**
   * After an INSERT of one row: the number that the engine gave it, exact beyond 2^53. Undefined
   * where the engine does not report it: PostgreSQL (use RETURNING), SQLite for an upsert or a
   * table WITHOUT ROWID, and tables without numbered rows.
   */
  readonly insertId?: bigint | undefined;
}

/** Where statements run: the store, or one transaction of it. */
export interface SqlConnection {
  /**
   * Runs one statement. Write parameters as `?` on every engine. 64-bit integers arrive as numbers.
   * Rejects with the engine's own error; `isUnavailable` tells whether the store could not be
   * reached.
   */
  execute<Row = Record<string, unknown>>(
    sql: string,
    parameters?: readonly SqlParameter[],
  ): Promise<SqlResult<Row>>;
}

/**
 * A value for a `?` of a statement. The authorization server passes no bigint. An application may,
 * such as an `insertId`.
 */
export type SqlParameter = string | number | bigint | null;

/** A relational store, as the authorization server uses it: these members and no others. */
export interface Database extends SqlConnection {
  /** The engine of this store. */
  readonly dialect: SqlDialect;
  /**
   * PostgreSQL: the schema in which every statement finds its tables. `migrate` creates it if it is
   * missing.
   */
  readonly schema?: string | null;
  /**
   * Runs one statement in its own transaction.
   *
   * If the connection breaks while the statement runs, its outcome is unknown. Only then is
   * `committed` called, as soon as the store answers again. If it returns true, the statement
   * resolves with `affected` 1 and no rows. If it returns false, or if the store stays away, the
   * statement fails as unavailable. Without `committed` nothing is asked, and the statement fails.
   * `committed` may write. It is called again when it fails as unavailable, as on a standby. A
   * false is final: the statement does not run again. A store may ignore `committed`, but then a
   * code or token may be spent although the client got a 503.
   */
  execute<Row = Record<string, unknown>>(
    sql: string,
    parameters?: readonly SqlParameter[],
    committed?: (connection: SqlConnection) => Promise<boolean>,
  ): Promise<SqlResult<Row>>;
  /**
   * Runs the work in one transaction (`BEGIN IMMEDIATE` on SQLite, READ COMMITTED elsewhere). If
   * the work returns, the transaction commits; if it throws, it rolls back. After a deadlock or a
   * serialization failure the work runs again, or the transaction rejects with an error that
   * `isUnavailable` accepts. So the work must have no effect except its statements, and must use
   * only the connection that it is given.
   *
   * If the connection breaks during the commit, its outcome is unknown. Only then is `committed`
   * called, as soon as the store answers again. If it returns true, the transaction resolves with
   * the work's result. If it returns false, or if the store stays away, the transaction fails as
   * unavailable. Without `committed` it fails as unavailable.
   * `committed` may write. It is called again when it fails as unavailable. A false is final: the
   * work does not run again.
   */
  transaction<T>(
    work: (connection: SqlConnection) => Promise<T>,
    committed?: (connection: SqlConnection, result: T) => Promise<boolean>,
  ): Promise<T>;
  /**
   * Runs work whose reads belong to one question, such as whether a token is valid. A store may let
   * them share the cost of a read. They see nothing older than the moment at which the first of
   * them runs. A write among them runs by itself. `(work) => work()` is a valid implementation.
   */
  readTogether<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Whether the same call may succeed later or elsewhere: the store cannot be reached, is too busy,
   * or is read-only. Such an error is answered 503. A wrong statement is not one of these: it is a
   * fault.
   */
  isUnavailable(error: unknown): boolean;
}
