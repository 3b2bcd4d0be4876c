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

/** A relational store, as the authorization server uses it: these five members. */
export interface Database extends SqlConnection {
  /** The engine that it is. */
  readonly dialect: SqlDialect;
  /** PostgreSQL: the schema that every statement finds its tables in. `migrate` makes it when it is missing. */
  readonly schema?: string | null;
  /**
   * Runs one statement by itself, which is a transaction of its own.
   *
   * When the store is lost while the statement executes, nobody knows whether it took effect. Then, and only then, `committed` is
   * asked, as soon as the store answers again: if it returns true, the statement resolves as if it had answered, `affected`
   * being 1 and `rows` empty; if false, or if the store stays away, it fails as unavailable. Without it nothing is asked.
   * The question may write, and is asked again when it fails as unavailable, as on a standby. A no is for good: the statement is
   * not executed again. A store that never asks is right too, but a use that was answered 503 may have been spent there.
   */
  execute<Row = Record<string, unknown>>(
    sql: string,
    parameters?: readonly SqlParameter[],
    committed?: (connection: SqlConnection) => Promise<boolean>,
  ): Promise<SqlResult<Row>>;
  /**
   * Runs the work in one transaction (`BEGIN IMMEDIATE` on SQLite, READ COMMITTED elsewhere): what it returns commits, what
   * it throws rolls back. After a deadlock or a serialisation failure the work runs again, or the transaction rejects with an
   * error that `isUnavailable` accepts. So the work has no effect but its statements, and uses only the connection that it
   * is given.
   *
   * When the store is lost while it commits, nobody knows whether it did. Then, and only then, `committed` is asked, as soon
   * as the store answers again: if it returns true, the transaction resolves with the work's result; if false, or if the
   * store stays away, it fails as unavailable. Without it nothing is asked, and the transaction fails as unavailable.
   * The question may write, and is asked again when it fails as unavailable. A no is for good: the work does not run again.
   */
  transaction<T>(
    work: (connection: SqlConnection) => Promise<T>,
    committed?: (connection: SqlConnection, result: T) => Promise<boolean>,
  ): Promise<T>;
  /**
   * Runs work whose reads answer one question together, such as what a token is good for. A store may let them share what a
   * read costs; they see nothing older than the moment at which the first of them runs. A write among them is one by itself.
   * `(work) => work()` is right too.
   */
  readTogether<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Whether an error means that the same may succeed later or elsewhere: the store cannot be reached, is too busy, or may only
   * be read from. Such an error is answered 503; a wrong statement is a fault instead.
   */
  isUnavailable(error: unknown): boolean;
}
