/**
 * One interface to relational databases, with transactions and migrations. It supports SQLite,
 * PostgreSQL, MySQL and MariaDB.
 */
export type { Database, SqlConnection, SqlDialect, SqlParameter, SqlResult } from './contract.ts';
export type {
  BorrowedDatabase,
  BorrowingOptions,
  DatabaseConnections,
  OpenedDatabase,
  Timer,
} from './opened.ts';
export { openDatabase } from './open-database.ts';
export type { DatabaseOptions } from './opening.ts';
export type { MysqlPool } from './mysql/borrowed.ts';
export { fromMysql } from './mysql/opening.ts';
export type { PostgresPool } from './postgres/borrowed.ts';
export { fromPostgres } from './postgres/opening.ts';
export { fromSqlite } from './sqlite/opening.ts';
export { migrate, migrationStatus, pendingSteps } from './migrations.ts';
export { printMigrations } from './print-migrations.ts';
export type {
  BegunStep,
  ColumnTypes,
  Migration,
  MigrationState,
  SchemaConnection,
} from './schema.ts';
export { BEGUN, MIGRATIONS_TABLE } from './known-migrations.ts';
export type { Dialect } from './dialect.ts';
export { getDialect } from './engines.ts';
export { describeCause, isUnavailable, isUnreachable } from './failures.ts';
export { insertIfNone } from './insert-if-none.ts';
export { readsTogether } from './together.ts';
export { systemTimer } from './timer.ts';
export type { Log, LogContext } from './log.ts';
export {
  getErrorCode,
  ConfigurationError,
  hasCode,
  isConfigurationError,
  isOverloaded,
  OutOfRangeError,
  OverloadedError,
  TransactionError,
  type ConfigurationProblem,
} from './errors.ts';
export { makeFolders } from './make-folders.ts';
export { NotGivenError, openOwnedFolder, openToAppend } from './owned-files.ts';
export { failing, ok, skipped, warning, type Finding } from './findings.ts';
