/** What is taken of an application's own pools: as much of the drivers' types as these have in common with ours. */

/** A `Pool` of `pg` 8.11 or later, in JavaScript (not `pg-native`). */
export interface PostgresPool {
  /** Gives out a connection. */
  connect(callback: (error: Error | undefined, client: object | undefined) => void): void;
}

/** A pool of `mysql2` 3.9 or later, or of its `mysql2/promise`. */
export interface MysqlPool {
  /** Gives out a connection. */
  readonly getConnection: (...given: never[]) => unknown;
}
