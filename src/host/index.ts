/** The host kit: a thin framework for applications that have none, and one implementation of the server's host contract. */
export type * from './contracts.ts';
export type {
  ApplicationInput,
  ConfigInput,
  KitConfigInput,
  LogConfigInput,
  SignInLinksInput,
  NoSections,
} from './typed-configuration.ts';
export type { Log, LogContext } from '../contracts/log.ts';
export type { PasswordHasher } from '../contracts/password-hasher.ts';
export type { WaitingFor } from '../contracts/waiting.ts';
export type { PersonReference, Profile, UserInterface } from '../contracts/person.ts';
export type { Database, SqlConnection, SqlDialect, SqlParameter, SqlResult } from '../sql/contract.ts';
export type { BegunStep, ColumnTypes, Migration, MigrationState, SchemaConnection } from '../sql/schema.ts';
export { defineApplication, migrationsOf, startApplication, type StartOptions } from './application.ts';
export { auth, session } from './accounts/request-context.ts';
export { createAccounts } from './accounts/accounts.ts';
export { accountCommands } from './console/commands/accounts.ts';
export {
  databaseAccounts,
  type DatabaseAccount,
  type DatabaseAccounts,
  type DatabaseAccountsOptions,
  type NewAccount,
} from './accounts/database-accounts.ts';
export { mergeConfig } from './configuration.ts';
export { loadEnvironment } from './environment.ts';
export { migrate } from './database/migrate.ts';
export { openDatabase } from './database/open-database.ts';
export type { DatabaseOptions } from './database/opening.ts';
export type { MysqlPool } from './database/mysql/borrowed.ts';
export { fromMysql } from './database/mysql/opening.ts';
export type { PostgresPool } from './database/postgres/borrowed.ts';
export { fromPostgres } from './database/postgres/opening.ts';
export { fromSqlite } from './database/sqlite/opening.ts';
export { migrationStatus } from '../sql/migrations.ts';
export { printMigrations } from '../sql/print-migrations.ts';
export { argon2idHasher } from './accounts/password-hasher.ts';
export type { Argon2idOptions } from '../defaults/argon2id.ts';
export { ConfigurationError, OverloadedError } from '../contracts/errors.ts';
export { ConsoleError, HttpError, TransactionError } from './errors.ts';
export { ViewError } from '../defaults/view-errors.ts';
export { ErrorHandler } from './http/error-handler.ts';
export { Event } from './events.ts';
export { SignInSlowedError, type FailedSignIn } from './accounts/sign-in.ts';
export { openLog, type ClosableLog, type LogOptions } from '../defaults/log.ts';
export { createViews, type ViewsOptions } from '../defaults/views.ts';
export type { Branding, BrandingInput, BrandingView, ServedLogo } from '../defaults/branding/branding.ts';
export { pageHeaders } from '../http/page-headers.ts';
export { returnPath } from './http/return-path.ts';
export type { SignInView } from './accounts/login.ts';
export type { ErrorView } from './http/error-answers.ts';
export { listen, type ListenOptions, type RunningServer } from './http/server.ts';
export { runConsole } from './console/run-console.ts';
export type { ConsoleIo } from './console/console.ts';
