/** What is taken of an application's own pools and files: as much of the drivers' types as these have in common with ours. */

/** A `Pool` of `pg` 8.23 or later, in JavaScript (not `pg-native`). */
export interface PostgresPool {
  /** Gives out a connection. */
  connect(callback: (error: Error | undefined, client: object | undefined) => void): void;
}

/** A pool of `mysql2`, or of `mysql2/promise`. */
export interface MysqlPool {
  /** Gives out a connection. */
  readonly getConnection: (...given: never[]) => unknown;
}

/** A `DatabaseSync` of `node:sqlite`, or a `Database` of `better-sqlite3`. */
export interface SqliteDatabase {
  /** Prepares a statement. */
  prepare(sql: string): { all(): readonly unknown[] };
}
