import type { ConfigurationProblem, Database, Log, Migration } from '@portico/sql';
import type { ConsentAnswered, PriorConsent } from './store/prior-consent.ts';
import type { DirectRequests, IndirectRefusal } from './authorization/direct-requests.ts';
import type { TrustedIssuer } from './keys/assertions/trusted-issuer.ts';
import type { RequestCheck } from './authorization/request-check.ts';
import type { Interaction } from './authorization/interaction.ts';
import type { EarlierScopes, KeepsDetails } from './authorization/additions.ts';
import type { RequestChecks } from './authorization/request.ts';
import type { ScopeChoices } from './authorization/scope-choices.ts';
import type { AuditSink } from './auditing/server-audit.ts';
import type { AddCommands } from './application/console-context.ts';
import type { Application } from './application/started-application.ts';
import type { AuthorizationServer, FeatureMembers } from './authorization-server.ts';
import type { ClientAssertions, OwnAssertions } from './clients/client-assertions.ts';
import type { ClientSource } from './clients/client-source.ts';
import type { ExaminedApplication, Examination } from './examination.ts';
import type { ClientAuthentication } from './clients/authentication.ts';
import type { PasswordHasher } from './host/password-hasher.ts';
import type { BrandedPlace, FoundBranding } from './pages/branding.ts';
import type { MetadataField } from './store/further-metadata.ts';
import type { Clients, FindClient } from './clients/clients.ts';
import type { Endpoint, Handler } from './endpoints/endpoint.ts';
import type { EndpointDescription } from './endpoints/table.ts';
import type { ClientLogos } from './clients/logos.ts';
import type { MayRedirect } from './clients/redirect-uris.ts';
import type { ClientSecrets } from './clients/secrets.ts';
import type { DemandDescription } from './store/client-demands.ts';
import type { ConfigSchema, OAuthServerConfig } from './config.ts';
import type { RefreshRules, SecondUses } from './grants/repeated-answers.ts';
import type { GrantType } from './grants/grant-types.ts';
import type { ForgetsPerson, RevokesAlso } from './grants/access.ts';
import type { EndsRequests } from './grants/restored-access.ts';
import type { IssuanceCheck } from './grants/issuing.ts';
import type { Deliver } from './outbox/message.ts';
import type { AlgorithmForm } from './keys/algorithms.ts';
import type { FindSid, OnSessionEnd } from './host/session-ends.ts';
import type { Measuring, Telemetry } from './measuring.ts';
import type { MetadataValues } from './endpoints/metadata.ts';
import type { SendingMode } from './endpoints/replies/sending.ts';
import type { ClientArrival, Server } from './server.ts';
import type { Details } from './store/grant.ts';
import type { ExpiringRows } from './store/pruning.ts';
import type { FeatureRecords } from './store/store.ts';
import type { PublishedResource } from './resource/protected-resource.ts';
import type { MakesTokenMembers } from './resource/token-accessor.ts';
import type { Catalogs } from './pages/speaking.ts';
import type { SecurityProfile } from './profiles.ts';
import type { DescribesDetails } from './tokens/details.ts';
import type { AssertionGrant } from './grants/assertion-grant.ts';
import type { DropsScope } from './tokens/dropped-scopes.ts';
import type { GivenAccess } from './store/given-access.ts';
import type { KeyBinding } from './tokens/key-binding.ts';
import type { ResourceDescription } from './tokens/resource-indicators.ts';
import type { ScopeHeading } from './tokens/scopes.ts';

/** Configuration keys, and the schema of each. */
export type ConfigShape = Readonly<Record<string, ConfigSchema>>;

/** The validated values of these configuration keys. */
export type ConfigOf<Shape extends ConfigShape> = {
  readonly [Key in keyof Shape]?: Shape[Key]['_zod']['output'] | undefined;
};

/**
 * A feature of the server. Several servers can use one feature object. Each of its functions
 * receives `Config`: the section `oauth_server`, including the feature's own keys.
 */
export interface Feature<Config = OAuthServerConfig> {
  /** The feature's name in error messages, in lower snake case. */
  readonly name: string;
  /** The feature's configuration keys under `oauth_server`. */
  readonly config?: ConfigShape;
  /**
   * The feature's top-level configuration keys. Only kit applications that use the server as a
   * plugin have them.
   */
  readonly applicationConfig?: ConfigShape;
  /** The configuration keys that the feature adds to a scope object. */
  readonly scopeConfig?: ConfigShape;
  /**
   * Returns headings for lists of scopes, in order. A scope appears below the first heading that
   * accepts it.
   */
  scopeHeadings?(config: Config): readonly ScopeHeading[];
  /** Returns the problems of settings that are valid alone but not together. */
  problems?(config: Config, publicUrl: string): readonly ConfigurationProblem[];
  /**
   * Returns the migrations of the feature's own tables, in order, or none if the feature is off. A
   * name consists of `oauth_server_`, the feature's name and a number, for example
   * `oauth_server_device_0001_codes`. Never change a released migration.
   */
  migrations?(config: Config): readonly Migration[];
  /**
   * Returns the feature's database records, which the feature declares in `FeatureRecords`. The
   * server adds them to `Server.store` and measures their methods. Portico calls this function once
   * per server, even if the feature is off.
   */
  records?(database: Database): Partial<FeatureRecords>;
  /**
   * Whether the feature sends messages through the outbox (`Server.outbox`). If any feature does,
   * the store must have the outbox tables.
   */
  sendsMessages?(config: Config): boolean;
  /** The error codes that the feature adds to the core's. */
  readonly errorCodes?: readonly string[];
  /** Returns the `Authorization` schemes that the feature adds for access tokens. */
  tokenSchemes?(config: Config): readonly string[];
  /** The requirements that clients can be registered with. */
  readonly clientDemands?: readonly OfferedDemand<Config>[];
  /** Fields that the feature adds to client metadata (RFC 7591 section 2). */
  readonly clientMetadata?: readonly OfferedField<Config>[];
  /** Returns the ways in which an application can become a client without an operator. */
  arrivals?(config: Config): readonly ClientArrival[];
  /** Returns the resources that tokens can be for, in addition to `oauth_server:audience`. */
  resources?(config: Config, publicUrl: string): readonly ResourceDescription[];
  /** Returns the issuers other than this server whose assertions the feature accepts. */
  trustedIssuers?(config: Config): readonly TrustedIssuer[];
  /** The security profile that the feature provides. */
  readonly profile?: ProfileOffer<Config>;
  /** Algorithms that the feature adds for signing ID tokens. */
  readonly signingAlgorithms?: readonly AlgorithmForm[];
  /** Message catalogs for languages besides English, by language tag (BCP 47). */
  readonly messages?: Catalogs;
  /** The feature's endpoints. They exist only if the feature is on. */
  readonly endpoints?: readonly EndpointDescription[];
  /** Loads the feature's console commands. */
  commands?(): Promise<AddCommands>;
  /**
   * Returns the branding of the pages. Returns null to use another feature's branding or Portico's
   * default design.
   */
  branding?(config: Config, place: BrandedPlace): FoundBranding;
  /**
   * Measures a server for the application's `telemetry`. Portico calls this function only if the
   * application passes `telemetry`, and before it creates the other objects of the server. Use
   * `log` only after the server has started. `errorCodes` contains the error codes of all features.
   * At most one feature can have this function.
   */
  measuring?(
    telemetry: Telemetry,
    database: Database,
    log: () => Log,
    errorCodes: readonly string[],
  ): Measuring;
  /** Adds the feature to a server. Portico calls it once per server, even if the feature is off. */
  start?(server: Server, config: Config): Contribution;
  /**
   * Adds the feature to a kit application that uses the server as a plugin. Portico calls it after
   * the server has added its routes.
   */
  register?(application: Application, server: AuthorizationServer): void;
}

/** A demand that clients can make, and which servers meet it. */
export interface OfferedDemand<Config = OAuthServerConfig> extends DemandDescription {
  /** Whether a server with this configuration meets the demand. */
  meets(config: Config): boolean;
}

/** A client metadata field, and which servers offer it. */
export interface OfferedField<Config = OAuthServerConfig> extends MetadataField {
  /** Whether a server with this configuration offers the field. */
  isOffered(config: Config): boolean;
}

/** A security profile and what it requires of a server. */
export interface ProfileOffer<Config = OAuthServerConfig> extends SecurityProfile {
  /** Whether the profile applies to the whole server. */
  isServers(config: Config): boolean;
  /** The `oauth_server` settings that the profile sets when it applies to the whole server. */
  readonly demanded: Readonly<Record<string, unknown>>;
  /**
   * The contributions of other features that are required if the profile applies to the whole
   * server. If one is missing, the server does not start.
   */
  readonly needs: readonly (keyof Contribution)[];
  /** Returns the problems of the configuration if the profile applies to the whole server. */
  problems(config: Config): readonly ConfigurationProblem[];
  /** Returns the settings that must be turned on before the profile can apply to single clients. */
  missing(config: Config): readonly string[];
}

/** What a feature adds to one server. */
export interface Contribution {
  /** Metadata members (RFC 8414 section 2). */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Values that the feature adds to lists in the OpenID provider's metadata. */
  readonly metadataValues?: MetadataValues;
  /** Finds clients that are not registered. At most one feature can provide this. */
  readonly clientSource?: ClientSource;
  /**
   * Authenticates clients with their own keys, including the clients of `source`. At most one
   * feature can provide this.
   */
  readonly clientAssertions?: (source: ClientSource | null) => OwnAssertions;
  /**
   * Authenticates workloads as clients: one entry for each type of workload token. At most one
   * feature can provide this.
   */
  readonly workloads?: readonly ClientAssertions[];
  /** Binds tokens to a client's key. At most one feature can provide this. */
  readonly binding?: KeyBinding;
  /**
   * Stores authorization requests that clients send directly to the server and not through the
   * browser. At most one feature can provide this.
   */
  readonly directRequests?: DirectRequests;
  /**
   * Returns why this client must send its authorization requests directly to the server, or null if
   * it may send them through the browser.
   */
  readonly indirectRefusal?: IndirectRefusal;
  /** Returns whether to accept a redirect URI that the client has not registered. */
  readonly mayRedirect?: MayRedirect;
  /** Response modes in addition to `query`. A mode sends responses to the client's redirect URI. */
  readonly responseModes?: readonly SendingMode[];
  /**
   * Checks of authorization requests. Each replaces the core's check of the same name in
   * authorization/checks.ts.
   */
  readonly requestChecks?: Readonly<Record<string, RequestCheck>>;
  /**
   * The authorization request parameters that the feature reads. A client may send each one once.
   * The server stores their values with the waiting request. Read them from
   * `AuthorizationRequest.further`.
   */
  readonly requestParameters?: readonly string[];
  /**
   * Sends signed-in users to a page of the host before the consent page. At most one feature can
   * provide this.
   */
  readonly interaction?: Interaction;
  /**
   * Returns members for ID tokens or introspection responses. `details` is what an interaction or
   * `keepsDetails` stored with the authorization.
   */
  readonly describe?: DescribesDetails;
  /**
   * Returns details to store with an authorization that a user has just allowed, in addition to an
   * interaction's details. Called before the server stores the authorization. To refuse the
   * authorization, throw an `AuthorizationPageError`.
   */
  readonly keepsDetails?: KeepsDetails;
  /** Called in the transaction that ends sessions of the application. */
  readonly sessionEnded?: OnSessionEnd;
  /**
   * Finds the browser session's `sid`. Provide this only if the feature adds the claim `sid` to ID
   * tokens. At most one feature can provide this.
   */
  readonly sid?: FindSid;
  /** Removes the feature's data about a person whom an operator erases. */
  readonly forgetsPerson?: ForgetsPerson;
  /**
   * Ends all requests in the feature's tables that wait for a user's answer. Called when an
   * operator ends all access after restoring a backup.
   */
  readonly endsRequests?: EndsRequests;
  /**
   * Whether revoking one authorization also revokes another authorization of the same user and
   * client. Called when an operator revokes the first one. Receives the details of both.
   */
  readonly revokesAlso?: RevokesAlso;
  /** Returns the members of `token()` that the feature declares in `TokenMembers`. */
  readonly tokenMembers?: MakesTokenMembers;
  /**
   * Finds the scopes that a user has already allowed a client. If the protected API sets
   * `ResourceNeeds.stepUp`, a new authorization contains these scopes too. At most one feature can
   * provide this.
   */
  readonly earlierScopes?: EarlierScopes;
  /**
   * Finds an earlier authorization that allows the server to skip the consent page. At most one
   * feature can provide this.
   */
  readonly priorConsent?: PriorConsent;
  /** Receives users' answers on the consent page. */
  readonly consentAnswered?: ConsentAnswered;
  /**
   * Whether to drop a requested scope that the server cannot grant. If no feature drops the scope,
   * the server refuses the request.
   */
  readonly dropsScope?: DropsScope;
  /**
   * The scopes that a user can select on the consent page. At most one feature can provide this.
   */
  readonly scopeChoices?: ScopeChoices;
  /**
   * Handlers for the feature's endpoints, by endpoint name. If an endpoint has no handler, this
   * server does not have the endpoint.
   */
  readonly handlers?: (parts: Parts) => Readonly<Record<string, Handler>>;
  /** Endpoints that do not use the server. Their requests are neither measured nor logged. */
  readonly plainEndpoints?: readonly Endpoint[];
  /** The server properties that the feature declares in `FeatureMembers`. */
  readonly members?: (parts: Parts) => Partial<FeatureMembers>;
  /** The feature's grant types. Clients can register for them. */
  readonly grants?: readonly GrantType[];
  /**
   * Reads token requests whose assertion identifies the client. At most one feature can provide
   * this.
   */
  readonly assertionGrant?: AssertionGrant;
  /**
   * Checks and ends access that organizations granted for users. Without this, the server accepts
   * no such access. At most one feature can provide this.
   */
  readonly givenAccess?: GivenAccess;
  /** Checks each token before the server issues it. Throws to refuse the token. */
  readonly issuanceCheck?: IssuanceCheck;
  /**
   * The path of the page where users revoke access, including the base path. At most one feature
   * can provide this.
   */
  readonly accessPath?: string;
  /** Client logos. At most one feature can provide this. */
  readonly logos?: ClientLogos;
  /**
   * Verifies client secrets. Replaces the host's hasher and must accept its hashes. At most one
   * feature can provide this.
   */
  readonly secretHasher?: PasswordHasher;
  /**
   * Decides what happens when a refresh token is used a second time. At most one feature can
   * provide this.
   */
  readonly secondUses?: (rules: RefreshRules, binding: KeyBinding | null) => SecondUses;
  /** Describes the protected API to clients. At most one feature can provide this. */
  readonly resource?: PublishedResource;
  /** Receives audit events in addition to the host. At most one feature can provide this. */
  readonly auditSink?: AuditSink;
  /** Delivers the feature's messages from the outbox, by kind of message. */
  readonly deliveries?: Readonly<Record<string, Deliver>>;
  /** The feature's rows that expire. The server removes expired rows. */
  readonly expiring?: ExpiringRows;
  /** Whether the feature records values that can be used only once, for example signed strings. */
  readonly usesOnce?: boolean;
  /** Returns the doctor's examination of this feature. */
  readonly examination?: (parts: Parts) => Examination;
}

/**
 * The objects of the server that a feature's endpoints can use. The server creates them after every
 * feature has started.
 */
export interface Parts {
  /** The registered clients. */
  readonly clients: Clients;
  /**
   * Looks up clients that are not registered, for example by the URL in their client id. Null if no
   * feature provides this.
   */
  readonly clientSource: ClientSource | null;
  /** Checks client secrets. */
  readonly secrets: ClientSecrets;
  /** The checks of authorization requests. */
  readonly checks: RequestChecks;
  /** Binds tokens to a client's key. Null if tokens are not bound. */
  readonly binding: KeyBinding | null;
  /**
   * Returns the authentication for these clients at the endpoints with these paths. The audience of
   * a client assertion may be any of the endpoints.
   */
  authenticating(findClient: FindClient, ...paths: readonly string[]): ClientAuthentication;
  /**
   * Returns the details to store with an authorization that a user allows on a page of the feature.
   * `request` is the browser's request with the user's answer. Returns undefined if there are no
   * details.
   */
  authorizationDetails(request: Request): Promise<Details | undefined>;
  /** Finds the browser session's `sid`. Null if ID tokens contain no `sid`. */
  readonly sid: FindSid | null;
  /** Client logos. Null if no feature provides them. */
  readonly logos: ClientLogos | null;
  /** The path of the page where users revoke access. Null if no feature provides it. */
  readonly accessPath: string | null;
  /** Returns the whole server. Call it only while you handle a request. */
  readonly server: () => AuthorizationServer;
  /** The application that the doctor examines. Null if the doctor knows only the store. */
  readonly examined: ExaminedApplication | null;
}

/**
 * Defines a feature. Each of its functions receives the section `oauth_server`, including the keys
 * from the feature's `config`.
 */
export function defineFeature<Shape extends ConfigShape>(
  feature: Feature<OAuthServerConfig & ConfigOf<Shape>> & { readonly config?: Shape },
): Feature {
  return feature;
}
