/** The authorization server and OpenID Connect provider inside a host application. */
export { createAuthorizationServer } from './assembly.ts';
export type { AuthorizationServer, AuthorizationServerOptions } from './authorization-server.ts';
export type { ResourceNeeds } from './protected-resource.ts';
export { authorizationServerOf } from './console/open-server.ts';
export { oauthServer, type OAuthServerPluginOptions } from './plugin.ts';
export { token, type TokenAccessor } from './tokens/token-accessor.ts';
export { bearerErrorResponse } from './replies/responses.ts';
export { examine } from './console/examine.ts';
export type { DoctorReport, ExaminationOptions, OpenRotation } from './console/doctor.ts';
export type { Check } from './console/checks.ts';
export type { Finding } from '../../sql/src/findings.ts';
export type { ExaminedApplication } from './console/subject.ts';
export { setUpServer, type SetupReport } from './console/setup.ts';
export {
  configurationWith,
  oauthServerConfiguration,
  type OAuthServerConfiguration,
} from './configuration.ts';
export {
  defineFeature,
  type ConfigOf,
  type ConfigShape,
  type Contribution,
  type Feature,
  type OfferedDemand,
  type Parts,
} from './feature.ts';
export type { Server } from './server.ts';
export type { Handler } from './endpoints/endpoint.ts';
export type { EndpointDescription } from './endpoints/table.ts';
export type { Reply } from './replies/responses.ts';
export type {
  AuditConfigInput,
  OAuthServerConfig,
  OAuthServerConfigInput,
  ScopeConfig,
  ScopeInput,
} from './config.ts';
export type { ClaimsMapper } from './tokens/claims.ts';
export { oauthServerMigrations } from './store/migrations/index.ts';
export { migrate, migrationStatus } from '../../sql/src/migrations.ts';
export { printMigrations } from '../../sql/src/print-migrations.ts';
export type { BegunStep, ColumnTypes, Migration, MigrationState, SchemaConnection } from '../../sql/src/schema.ts';
export type { Database, SqlConnection, SqlDialect, SqlParameter, SqlResult } from '../../sql/src/contract.ts';
export type { Log, LogContext } from './contracts/log.ts';
export type { PasswordHasher } from './contracts/password-hasher.ts';
export type { WaitingFor, WithHeaders } from './contracts/waiting.ts';
export type { PersonReference, Profile, UserInterface } from './contracts/person.ts';
export {
  AccessError,
  BearerError,
  OAuthError,
  RegistrationError,
  type BearerErrorCode,
  type OAuthErrorCode,
  type RegistrationErrorCode,
} from './errors.ts';
export type {
  CountedRows,
  DatabaseConnections,
  MeasuredEndpoint,
  MeasuredGrant,
  MeasuredStoreOperation,
  MeasuredTask,
  Measurement,
  ObservedServer,
  Telemetry,
  TokenKind,
} from './contracts/telemetry.ts';
export type { Measuring } from './measuring/measuring.ts';
export { OverloadedError } from '../../sql/src/errors.ts';
export {
  AUDIT,
  type Acting,
  type Administrator,
  type AuditedAuthorization,
  type AuditedClient,
  type AuditEvent,
} from './auditing/audit.ts';
export type { AuditFilter, AuditPage, AuditPageRequest, KeptAudit } from './auditing/kept-audit.ts';
export type { AuditRecord } from './auditing/record.ts';
export type { ServerAudit } from './auditing/server-audit.ts';
export type { Sealing } from './authorization/cookie-keys.ts';
export type { Host } from './host.ts';
export type { Destination, Unverified } from './clients/who-asks.ts';
export type { ApplicationsView } from './authorization/applications-page.ts';
export type { ConsentView } from './authorization/consent-page.ts';
export type { ErrorView, EveryView, OAuthViews, PageData } from './replies/views.ts';
export type { Access, ErasedPerson, RevokedAuthorization, RevokedPerson } from './access/access.ts';
export type { Lasting } from './store/batches.ts';
export type { EndedAccess } from './access/restored.ts';
export type { AuthorizationList, AuthorizationPage } from './access/listing.ts';
export type { AuthorizationFilter, HeldAuthorization, HoldingClient } from './store/authorization-search.ts';
export type { Endpoint } from './endpoints/endpoint.ts';
export type { Clients, RegisteredClient, RevokedClient, RotatedSecret } from './clients/clients.ts';
export type { ClientRegistration } from './clients/registration.ts';
export type { ClientList, ClientPage } from './clients/listing.ts';
export type { DescribedKey, ShownClient } from './clients/describing.ts';
export type {
  ClientChanges,
  FieldChange,
  FieldChanges,
  UpdateClient,
  UpdatedClient,
} from './clients/updating.ts';
export type { BrandingInput, BrandingView } from './defaults/branding/branding.ts';
export type { DocumentHosts } from './client-documents/client-urls.ts';
export type {
  CreatedInitialAccessToken,
  InitialAccessTokens,
  NewInitialAccessToken,
} from './registering/initial-access-tokens.ts';
export type {
  ClientImport,
  ClientImportOptions,
  ImportedClient,
  ImportedRecord,
  Importing,
  ImportOptions,
  SubjectImport,
} from './importing/contract.ts';
export type { KeyRing } from './keys/key-ring.ts';
export type { KeyDescription, KeyState } from './keys/key-states.ts';
export type { KeyRotation, RotationOptions } from './keys/rotation.ts';
export type { KeySigner } from './keys/signers.ts';
export { KeyRotationError, type SigningKey } from './keys/signing-key.ts';
export type { OutboundOptions } from './outbound/fetch-json.ts';
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
