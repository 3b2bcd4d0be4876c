/**
 * The interface through which the authorization server and the kit use a relational store. An
 * application can implement it itself.
 */

/** The engines that an application can use. For MariaDB, use `mysql`. */
export type SqlDialect = 'sqlite' | 'postgres' | 'mysql';

/** The result of a statement. */
export interface SqlResult<Row> {
  /** The rows that a SELECT or RETURNING produced. Empty for other statements. */
  readonly rows: readonly Row[];
  /** How many rows an INSERT, UPDATE or DELETE matched. */
  readonly affected: number;
  /**
   * The generated id of the row of a one-row INSERT. The id is exact even beyond 2^53. It is
   * undefined if the engine does not report the id:
   *
   * - PostgreSQL never reports it. Use RETURNING there.
   * - SQLite does not report it for an upsert, or for a table WITHOUT ROWID.
   * - No engine reports it for a table whose rows have no number.
   */
  readonly insertId?: bigint | undefined;
}

/** Runs statements. Either the store or an open transaction. */
export interface SqlConnection {
  /**
   * Runs one statement. Write parameters as `?` on all engines. 64-bit integers are returned as
   * numbers. If the statement fails, rejects with the engine's own error. Pass the error to
   * `isUnavailable` to find out whether the store could not be reached.
   */
  execute<Row = Record<string, unknown>>(
    sql: string,
    parameters?: readonly SqlParameter[],
  ): Promise<SqlResult<Row>>;
}

/**
 * A value for a `?` in a statement. The authorization server never passes a bigint. An application
 * may pass a bigint, such as an `insertId`.
 */
export type SqlParameter = string | number | bigint | null;

/** A relational store. The authorization server uses only the members below. */
export interface Database extends SqlConnection {
  /** The store's engine. */
  readonly dialect: SqlDialect;
  /**
   * The schema that contains the tables. Only PostgreSQL uses it. `migrate` creates the schema if
   * it is missing.
   */
  readonly schema?: string | null;
  /**
   * Runs one statement in a separate transaction.
   *
   * If the connection breaks while the statement runs, the store does not know whether the
   * statement took effect. Only in this case, the store calls `committed` as soon as the database
   * answers again. If `committed` returns true, the statement resolves with `affected` 1 and no
   * rows. If it returns false, or if the database does not answer, the statement fails as
   * unavailable. If you do not pass `committed`, the statement fails as unavailable immediately.
   *
   * `committed` may write. The store calls it again if it fails as unavailable, for example on a
   * standby. If `committed` returns false, the store does not run the statement again. An
   * implementation of a store may ignore `committed`. In that case, a code or token may be used up
   * although the client got a 503 response.
   */
  execute<Row = Record<string, unknown>>(
    sql: string,
    parameters?: readonly SqlParameter[],
    committed?: (connection: SqlConnection) => Promise<boolean>,
  ): Promise<SqlResult<Row>>;
  /**
   * Runs the work in one transaction (`BEGIN IMMEDIATE` on SQLite, READ COMMITTED on other
   * engines). Commits if the work returns, and rolls back if it throws. After a deadlock or a
   * serialization failure, the store runs the work again, or rejects with an error that
   * `isUnavailable` accepts. So the work must have no effects except its statements, and it must
   * use only the connection that it receives.
   *
   * If the connection breaks during the commit, the store does not know whether the commit took
   * effect. Only in this case, the store calls `committed` as soon as the database answers again.
   * If `committed` returns true, the transaction resolves with the result of the work. If it
   * returns false, or if the database does not answer, the transaction fails as unavailable. If you
   * do not pass `committed`, it also fails as unavailable.
   *
   * `committed` may write. The store calls it again if it fails as unavailable. If `committed`
   * returns false, the store does not run the work again.
   */
  transaction<T>(
    work: (connection: SqlConnection) => Promise<T>,
    committed?: (connection: SqlConnection, result: T) => Promise<boolean>,
  ): Promise<T>;
  /**
   * Runs work whose reads belong together, such as all reads for one token check. A store may
   * combine these reads to save time. They must not return data that is older than the first read.
   * Writes in the work run separately. `(work) => work()` is a valid implementation.
   */
  readTogether<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Whether the error means that the store cannot be reached, is too busy, or is read-only. In that
   * case, the same call may succeed later or on another server, and the response is 503. Returns
   * false for an error in the statement itself.
   */
  isUnavailable(error: unknown): boolean;
}
