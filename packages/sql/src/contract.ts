/**
 * The interface that the authorization server and the kit need from a relational store. An
 * application can implement it itself.
 */

/** The engines that an application can use. MariaDB is `mysql`. */
export type SqlDialect = 'sqlite' | 'postgres' | 'mysql';

/** A statement's result. */
export interface SqlResult<Row> {
  /** The rows from SELECT or RETURNING. Empty for any other statement. */
  readonly rows: readonly Row[];
  /** How many rows an INSERT, UPDATE or DELETE matched. */
  readonly affected: number;
  /**
   * After an INSERT with one row: the number that the engine gave to the row, exact even beyond
   * 2^53. Undefined where the engine does not report it: on PostgreSQL (use RETURNING), on SQLite
   * for an upsert or a table WITHOUT ROWID, and for tables without numbered rows.
   */
  readonly insertId?: bigint | undefined;
}

/** Runs statements, either on the store or in one of its transactions. */
export interface SqlConnection {
  /**
   * Runs one statement. Write parameters as `?` on every engine. 64-bit integers are returned as
   * numbers. Rejects with the engine's own error. Pass it to `isUnavailable` to find out whether
   * the store could not be reached.
   */
  execute<Row = Record<string, unknown>>(
    sql: string,
    parameters?: readonly SqlParameter[],
  ): Promise<SqlResult<Row>>;
}

/**
 * A value for a `?` in a statement. The authorization server never passes a bigint, but an
 * application may, such as an `insertId`.
 */
export type SqlParameter = string | number | bigint | null;

/** A relational store. The authorization server uses only these members. */
export interface Database extends SqlConnection {
  /** The store's engine. */
  readonly dialect: SqlDialect;
  /** PostgreSQL: the schema that contains the tables. `migrate` creates it if it is missing. */
  readonly schema?: string | null;
  /**
   * Runs one statement in its own transaction.
   *
   * If the connection breaks while the statement runs, its outcome is unknown. Only in this case,
   * the store calls `committed` as soon as the database answers again. If it returns true, the
   * statement resolves with `affected` 1 and no rows. If it returns false, or if the database does
   * not answer, the statement fails as unavailable. Without `committed`, it fails without asking.
   * `committed` may write. It is called again when it fails as unavailable, for example on a
   * standby. False is final: the statement does not run again. A store may ignore `committed`. In
   * this case, a code or token may be used up although the client got a 503.
   */
  execute<Row = Record<string, unknown>>(
    sql: string,
    parameters?: readonly SqlParameter[],
    committed?: (connection: SqlConnection) => Promise<boolean>,
  ): Promise<SqlResult<Row>>;
  /**
   * Runs the work in one transaction (`BEGIN IMMEDIATE` on SQLite, READ COMMITTED elsewhere).
   * Commits if the work returns, and rolls back if it throws. After a deadlock or a serialization
   * failure, the store runs the work again or rejects with an error that `isUnavailable` accepts.
   * So the work must have no effects except its statements. It must use only the connection that is
   * passed to it.
   *
   * If the connection breaks during the commit, its outcome is unknown. Only in this case, the
   * store calls `committed` as soon as the database answers again. If it returns true, the
   * transaction resolves with the work's result. If it returns false, or if the database does not
   * answer, the transaction fails as unavailable. Without `committed`, it fails as unavailable.
   * `committed` may write. It is called again when it fails as unavailable. False is final: the
   * work does not run again.
   */
  transaction<T>(
    work: (connection: SqlConnection) => Promise<T>,
    committed?: (connection: SqlConnection, result: T) => Promise<boolean>,
  ): Promise<T>;
  /**
   * Runs work whose reads belong together, such as all reads for one token check. A store may
   * combine them to save time. Their data must not be older than the time at which the first read
   * runs. Writes in the work run separately. `(work) => work()` is a valid implementation.
   */
  readTogether<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Whether the same call may succeed later or on another server, because the store cannot be
   * reached, is too busy, or is read-only. The response is then 503. Returns false for an error in
   * the statement itself.
   */
  isUnavailable(error: unknown): boolean;
}
