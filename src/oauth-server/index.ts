/** The authorization server and OpenID Connect provider inside a host application. */
export {
  createAuthorizationServer,
  type AuthorizationServer,
  type AuthorizationServerOptions,
} from './authorization-server.ts';
export { authorizationServerOf } from './console/open-server.ts';
export { oauthServer, type OAuthServerPluginOptions } from './plugin.ts';
export { token, type TokenAccessor } from './tokens/token-accessor.ts';
export { bearerErrorResponse } from './replies/responses.ts';
export { examine, type DoctorReport, type ExaminationOptions, type OpenRotation } from './console/doctor.ts';
export type { Check, Finding } from './console/checks.ts';
export type { ExaminedApplication } from './console/subject.ts';
export { setUpServer, type SetupReport } from './console/setup.ts';
export {
  oauthServerConfiguration,
  type OAuthServerConfig,
  type OAuthServerConfigInput,
  type ScopeInput,
} from './config.ts';
export type { ClaimsMapper } from './tokens/claims.ts';
export { oauthServerMigrations } from './store/migrations/index.ts';
export { migrate, migrationStatus } from '../sql/migrations.ts';
export { printMigrations } from '../sql/print-migrations.ts';
export type { ColumnTypes, Migration, MigrationState, SchemaConnection } from '../sql/schema.ts';
export type { Database, SqlConnection, SqlDialect, SqlParameter, SqlResult } from '../sql/contract.ts';
export type { Log, LogContext } from '../contracts/log.ts';
export type { PasswordHasher } from '../contracts/password-hasher.ts';
export type { PersonReference, Profile, UserInterface } from '../contracts/person.ts';
export {
  BearerError,
  OAuthError,
  RegistrationError,
  type BearerErrorCode,
  type OAuthErrorCode,
} from './errors.ts';
export { OverloadedError } from '../contracts/errors.ts';
export { AUDIT, type AuditedAuthorization, type AuditEvent } from './audit.ts';
export type { Host } from './host.ts';
export type { Endpoint } from './endpoints/endpoint.ts';
export type { Clients, RegisteredClient, RotatedSecret } from './clients/clients.ts';
export type { ClientRegistration } from './clients/registration.ts';
export type { KeyRing, SigningKey } from './keys.ts';
export type { Client, Grant, PrunedRows, SigningAlgorithm } from './store/store.ts';
