/**
 * The kit is a small framework for applications that do not use another one. It connects the
 * authorization server to its own accounts and sessions.
 */
export {
  defineApplication,
  migrationsOf,
  startApplication,
  type KitDefinition,
} from './application.ts';
export type {
  AccountProvider,
  Accounts,
  Application,
  ApplicationDefinition,
  Auth,
  Session,
} from './contracts.ts';
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
export { argon2idHasher } from './accounts/password-hasher.ts';
export { Event } from 'portico/extension';
export { HttpError } from './errors.ts';
export { ErrorHandler } from './http/error-handler.ts';
export { SignInSlowedError, type FailedSignIn } from './accounts/sign-in.ts';
export type { SignInView } from './accounts/login.ts';
export type { ErrorView } from './http/error-answers.ts';
export { listen, type ListenOptions, type RunningServer } from './http/server.ts';
