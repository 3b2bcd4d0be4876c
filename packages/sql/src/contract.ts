/**
 * How the authorization server and the kit access a relational store. An application can implement
 * this interface.
 */

/** The engines that an application can use. For MariaDB, use `mysql`. */
export type SqlDialect = 'sqlite' | 'postgres' | 'mysql';

/** The result of a statement. */
export interface SqlResult<Row> {
  /** The rows from a SELECT or RETURNING. Empty for other statements. */
  readonly rows: readonly Row[];
  /**
   * How many rows an INSERT, UPDATE or DELETE matched. With RETURNING, only PostgreSQL counts them:
   * use `rows.length` instead.
   */
  readonly affected: number;
  /**
   * The generated id of the row that an INSERT of one row added. The id is exact even beyond 2^53.
   * It is undefined if the engine does not report the id:
   *
   * - PostgreSQL never reports it. Use RETURNING there.
   * - SQLite does not report it for an upsert, or for a table WITHOUT ROWID.
   * - No engine reports it for a table without an automatically numbered column.
   */
  readonly insertId?: bigint | undefined;
}

/** Runs statements, either on the store or in an open transaction. */
export interface SqlConnection {
  /**
   * Runs one statement. Write parameters as `?` on all engines. 64-bit integers are returned as
   * numbers. Beyond 2^53, Portico's stores differ: SQLite rejects, PostgreSQL rounds, and MySQL
   * returns a string.
   *
   * If the statement fails, rejects with the engine's error. Use `isUnavailable` to find out
   * whether the error was caused by an unreachable store. Portico's stores also reject statements
   * that begin or end a transaction: use `transaction` instead.
   */
  execute<Row = Record<string, unknown>>(
    sql: string,
    parameters?: readonly SqlParameter[],
  ): Promise<SqlResult<Row>>;
}

/**
 * A value for a `?` in a statement. The authorization server never passes a bigint, but an
 * application may, for example an `insertId`.
 */
export type SqlParameter = string | number | bigint | null;

/** A relational store. The authorization server uses only the members of this interface. */
export interface Database extends SqlConnection {
  /** The store's engine. */
  readonly dialect: SqlDialect;
  /**
   * The schema that contains the tables. Used only on PostgreSQL. `migrate` creates the schema if
   * it is missing.
   */
  readonly schema?: string | null;
  /**
   * Runs one statement in a separate transaction.
   *
   * If the connection breaks while the statement runs, the store does not know whether the
   * statement took effect. Only in this case, the store calls `committed` when the database
   * responds again. If `committed` returns true, the statement resolves with `affected` 1 and no
   * rows. If it returns false, or if the database does not respond, the statement fails as
   * unavailable. Without `committed`, the statement fails as unavailable immediately.
   *
   * `committed` may write. If it fails as unavailable, for example on a standby, the store calls it
   * again. If `committed` returns false, the store does not run the statement again. Your own
   * implementation may ignore `committed`. A code or token may then be used up although the client
   * received a 503 response.
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
   * `isUnavailable` accepts. Therefore, the work must have no effects except its statements. It
   * must use only the connection that it receives.
   *
   * If the connection breaks during the commit, the store does not know whether the commit took
   * effect. Only in this case, the store calls `committed` when the database responds again. If
   * `committed` returns true, the transaction resolves with the result of the work. If it returns
   * false, if the database does not respond, or without `committed`, the transaction fails as
   * unavailable.
   *
   * `committed` may write. If it fails as unavailable, the store calls it again. If `committed`
   * returns false, the store does not run the work again.
   */
  transaction<T>(
    work: (connection: SqlConnection) => Promise<T>,
    committed?: (connection: SqlConnection, result: T) => Promise<boolean>,
  ): Promise<T>;
  /**
   * Runs `work` as a group of related reads, for example all reads that check one token. A store
   * may combine the reads to save time. However, every read must return data that is at least as
   * recent as the start of the first read. Writes are not part of the group. `(work) => work()` is
   * a valid implementation.
   */
  readTogether<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Returns whether the error means that the store cannot be reached, is too busy, or is read-only.
   * The server then responds with 503, because the same call may succeed later or on another
   * server. Returns false for a mistake in the statement.
   */
  isUnavailable(error: unknown): boolean;
}
