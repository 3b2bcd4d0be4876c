/** The host kit: a thin framework for applications that have none, and one implementation of the server's host contract. */
export type * from '../../portico/src/application/contracts.ts';
export type {
  ApplicationInput,
  ConfigInput,
  KitConfigInput,
  LogConfigInput,
  SignInLinksInput,
  NoSections,
} from '../../portico/src/application/typed-configuration.ts';
export type { Log, LogContext } from '../../portico/src/contracts/log.ts';
export type { PasswordHasher } from '../../portico/src/contracts/password-hasher.ts';
export type { WaitingFor } from '../../portico/src/contracts/waiting.ts';
export type { PersonReference, Profile, UserInterface } from '../../portico/src/contracts/person.ts';
export type { Database, SqlConnection, SqlDialect, SqlParameter, SqlResult } from '../../sql/src/contract.ts';
export type { BegunStep, ColumnTypes, Migration, MigrationState, SchemaConnection } from '../../sql/src/schema.ts';
export { defineApplication, migrationsOf, startApplication, type StartOptions } from '../../portico/src/application/application.ts';
export { auth, session } from './accounts/request-context.ts';
export { createAccounts } from './accounts/accounts.ts';
export { accountCommands } from './commands/accounts.ts';
export {
  databaseAccounts,
  type DatabaseAccount,
  type DatabaseAccounts,
  type DatabaseAccountsOptions,
  type NewAccount,
} from './accounts/database-accounts.ts';
export { mergeConfig } from '../../portico/src/application/configuration.ts';
export { loadEnvironment } from '../../portico/src/application/environment.ts';
export { migrate } from '../../sql/src/migrate.ts';
export { openDatabase } from '../../sql/src/open-database.ts';
export type { DatabaseOptions } from '../../sql/src/opening.ts';
export type { MysqlPool } from '../../sql/src/mysql/borrowed.ts';
export { fromMysql } from '../../sql/src/mysql/opening.ts';
export type { PostgresPool } from '../../sql/src/postgres/borrowed.ts';
export { fromPostgres } from '../../sql/src/postgres/opening.ts';
export { fromSqlite } from '../../sql/src/sqlite/opening.ts';
export { migrationStatus } from '../../sql/src/migrations.ts';
export { printMigrations } from '../../sql/src/print-migrations.ts';
export { argon2idHasher } from './accounts/password-hasher.ts';
export type { Argon2idOptions } from '../../portico/src/defaults/argon2id.ts';
export { ConfigurationError, OverloadedError } from '../../sql/src/errors.ts';
export { ConsoleError, HttpError, TransactionError } from '../../portico/src/application/errors.ts';
export { ViewError } from '../../portico/src/defaults/view-errors.ts';
export { ErrorHandler } from './http/error-handler.ts';
export { Event } from '../../portico/src/application/events.ts';
export { SignInSlowedError, type FailedSignIn } from './accounts/sign-in.ts';
export { openLog, type ClosableLog, type LogOptions } from '../../portico/src/defaults/log.ts';
export { createViews, type ViewsOptions } from '../../portico/src/defaults/views.ts';
export type { Branding, BrandingInput, BrandingView, ServedLogo } from '../../portico/src/defaults/branding/branding.ts';
export { pageHeaders } from '../../portico/src/http/page-headers.ts';
export { returnPath } from './http/return-path.ts';
export type { SignInView } from './accounts/login.ts';
export type { ErrorView } from './http/error-answers.ts';
export { listen, type ListenOptions, type RunningServer } from './http/server.ts';
export { runConsole } from '../../portico/src/console/program/run-console.ts';
export type { ConsoleIo } from '../../portico/src/console/program/console.ts';
