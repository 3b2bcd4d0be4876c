/**
 * The authorization server and OpenID Connect provider for your application. Also exports the
 * application types for console commands and plugins.
 */
export { createAuthorizationServer } from './assembly/authorization-server.ts';
export type { AuthorizationServer, FeatureMembers } from './authorization-server.ts';
export type { ProtectedApi, ProtectedRoutes } from './endpoints/protected-routes.ts';
export type { ResourceDescription } from './tokens/resource-indicators.ts';
export type { AuthorizationServerOptions } from './assembly/authorization-server-options.ts';
export type { ResourceNeeds } from './resource/protected-resource.ts';
export { authorizationServerOf } from './console/open-server.ts';
export { oauthServer, type OAuthServerPluginOptions } from './plugin.ts';
export { token, type TokenAccessor, type TokenMembers } from './resource/token-accessor.ts';
export { bearerErrorResponse } from './endpoints/replies/responses.ts';
export { examine } from './console/examine.ts';
export type { DoctorReport, ExaminationOptions, OpenRotation } from './console/doctor.ts';
export type { Check } from './console/checks.ts';
export type { Finding } from '@portico/sql';
export type { ExaminedApplication } from './examination.ts';
export { setUpServer, type SetupReport } from './console/setup.ts';
export {
  configurationWith,
  oauthServerConfiguration,
  type OAuthServerConfiguration,
} from './assembly/feature-configuration.ts';
export type { BrandingInput } from './assembly/feature-configuration.ts';
export type { Outbox } from './outbox/outbox.ts';
export type {
  Deliver,
  DeliveryResult,
  ListedMessage,
  NewMessage,
  OutboxCounts,
  OutboxFilter,
  OutboxMessage,
} from './outbox/message.ts';
export {
  defineFeature,
  type ConfigOf,
  type ConfigShape,
  type Contribution,
  type Feature,
  type OfferedDemand,
  type OfferedField,
  type Parts,
} from './feature.ts';
export type { GrantParts } from './grants/parts.ts';
export type { GrantType } from './grants/grant-types.ts';
export type { TokenGrant, TokenResponse } from './grants/grant.ts';
export type { Server } from './server.ts';
export type { Handler } from './endpoints/endpoint.ts';
export type { EndpointDescription } from './endpoints/table.ts';
export type { Reply } from './endpoints/replies/responses.ts';
export type {
  AuditConfigInput,
  ConfigSchema,
  OAuthServerConfig,
  OAuthServerConfigInput,
  ScopeConfig,
  ScopeInput,
} from './config.ts';
export type { ClaimsMapper } from './tokens/claims.ts';
export { migrationsWith } from './assembly/migrations.ts';
export { oauthServerMigrations } from './store/migrations/index.ts';
export {
  ConfigurationError,
  fromMysql,
  fromPostgres,
  fromSqlite,
  migrate,
  migrationStatus,
  openDatabase,
  OverloadedError,
  printMigrations,
  TransactionError,
  type BegunStep,
  type BorrowedDatabase,
  type BorrowingOptions,
  type ColumnTypes,
  type ConfigurationProblem,
  type Database,
  type DatabaseConnections,
  type DatabaseOptions,
  type Log,
  type LogContext,
  type Migration,
  type MigrationState,
  type MysqlPool,
  type OpenedDatabase,
  type PostgresPool,
  type SchemaConnection,
  type SqlConnection,
  type SqlDialect,
  type SqlParameter,
  type SqlResult,
  type Timer,
} from '@portico/sql';
export {
  defineApplication,
  migrationsOf,
  startApplication,
  type StartOptions,
} from './application/application.ts';
export type { AddCommands, ConsoleContext, ReportProgress } from './application/console-context.ts';
export type {
  Application,
  Connection,
  Events,
  FrameworkHost,
} from './application/started-application.ts';
export type {
  ApplicationDefinition,
  ApplicationParts,
  Configuration,
  Framework,
} from './application/definition.ts';
export type { ConfigMap, ConfigValue, Environment } from './application/config-map.ts';
export type {
  HttpMethod,
  Middleware,
  Route,
  RouteHandler,
  RouteParameters,
} from './application/routes.ts';
export type { Plugin, UntypedSections } from './application/plugin.ts';
export type {
  ApplicationInput,
  CheckedInput,
  ConfigInput,
  KitConfigInput,
  LogConfigInput,
  NoSections,
  SignInLinksInput,
} from './application/typed-configuration.ts';
export type { KitConfig } from './application/keys.ts';
export { mergeConfig } from './application/configuration.ts';
export { loadEnvironment } from './application/environment.ts';
export { ConsoleError } from './application/errors.ts';
export { runConsole } from './console/program/run-console.ts';
export type { ConsoleIo } from './console/program/console.ts';
export { ViewError, type ViewProblem } from './pages/view-errors.ts';
export { openLog, type ClosableLog, type LogOptions } from './host/log.ts';
export { createViews, type Views, type ViewsOptions } from './pages/views.ts';
export type {
  BrandedPlace,
  Branding,
  BrandingView,
  FoundBranding,
  ServedLogo,
} from './pages/branding.ts';
export { createArgon2id as argon2idHasher, type Argon2idOptions } from './host/argon2id.ts';
export { pageHeaders } from './http/page-headers.ts';
export { returnPath } from './http/return-path.ts';
export type { CompleteHost } from './host/host.ts';
export type { Speaking } from './pages/speaking.ts';
export type { PasswordHasher } from './host/password-hasher.ts';
export type { WaitingFor, WithHeaders } from './authorization/waiting-for.ts';
export type { PersonReference, Profile, UserInterface } from './person.ts';
export {
  AccessError,
  BearerError,
  OAuthError,
  RegistrationError,
  type BearerErrorCode,
  type OAuthErrorCode,
  type RegistrationErrorCode,
} from './errors.ts';
export type { CountedRows } from './store/sql/counting.ts';
export type {
  MeasuredEndpoint,
  MeasuredGrant,
  MeasuredStoreOperation,
  MeasuredTask,
  Measurement,
  Measuring,
  ObservedServer,
  Telemetry,
  TokenKind,
} from './measuring.ts';
export {
  AUDIT,
  type Acting,
  type Administrator,
  type AuditedAuthorization,
  type AuditedClient,
  type AuditEvent,
} from './auditing/audit.ts';
export type {
  AuditFilter,
  AuditPage,
  AuditPageRequest,
  AuditRecord,
  KeptAudit,
} from './auditing/kept-audit.ts';
export type { AuditSink, ServerAudit } from './auditing/server-audit.ts';
export type { Sealing } from './authorization/cookie-keys.ts';
export type { AskedAuthentication, Authentication, Host } from './host/host.ts';
export type { Destination, Unverified } from './clients/who-asks.ts';
export type { ApplicationsView } from './endpoints/replies/applications-view.ts';
export type { ConsentView } from './authorization/consent-page.ts';
export type { ErrorView, EveryView, OAuthViews, PageData } from './endpoints/replies/views.ts';
export type { Access, RevokedAuthorization, RevokedPerson } from './grants/access.ts';
export type { ErasedPerson } from './grants/erasing.ts';
export type { Lasting } from './store/batches.ts';
export type { EndedAccess } from './grants/restored-access.ts';
export type { AuthorizationList, AuthorizationPage } from './grants/held-access.ts';
export type {
  AuthorizationFilter,
  HeldAuthorization,
  HoldingClient,
} from './store/authorization-search.ts';
export type { Endpoint } from './endpoints/endpoint.ts';
export type {
  Clients,
  RegisteredClient,
  RevokedClient,
  RotatedSecret,
  UpdateClient,
} from './clients/clients.ts';
export type { ClientRegistration } from './clients/registration.ts';
export type { ClientList, ClientPage } from './clients/listing.ts';
export type { DescribedKey, ShownClient } from './clients/describing.ts';
export type { ClientChanges } from './clients/changed-client.ts';
export type { FieldChange, FieldChanges } from './clients/field-changes.ts';
export type { UpdatedClient } from './clients/updating.ts';
export type { DocumentHosts } from './http/outbound/hosts.ts';
export type {
  CreatedInitialAccessToken,
  InitialAccessTokens,
  NewInitialAccessToken,
} from './clients/initial-access-tokens.ts';
export type { KeyRing } from './keys/key-ring.ts';
export type { KeyDescription, KeyState } from './keys/key-states.ts';
export type { KeyRotation } from './keys/rotation.ts';
export type { RotationOptions } from './keys/rotation-options.ts';
export type { KeySigner } from './keys/signers.ts';
export { KeyRotationError, type SigningKey } from './keys/signing-key.ts';
export type { OutboundOptions } from './http/outbound/guarded-request.ts';
export type {
  ApplicationType,
  Client,
  ClientKeys,
  Grant,
  InitialAccessToken,
  RegisteredBy,
  SigningAlgorithm,
} from './store/client.ts';
export type { PrunedRows } from './store/pruning.ts';
export type { FeatureRecords } from './store/store.ts';
