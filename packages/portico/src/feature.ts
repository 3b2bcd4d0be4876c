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
import type { RevokesAlso } from './grants/access.ts';
import type { ForgetsPerson } from './grants/erasing.ts';
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

/** Configuration keys, each with its schema. */
export type ConfigShape = Readonly<Record<string, ConfigSchema>>;

/** The values of these configuration keys, after validation. */
export type ConfigOf<Shape extends ConfigShape> = {
  readonly [Key in keyof Shape]?: Shape[Key]['_zod']['output'] | undefined;
};

/**
 * A feature of the server. Several servers can share one feature object. `Config` is the section
 * `oauth_server`, including the feature's own keys.
 */
export interface Feature<Config = OAuthServerConfig> {
  /** The feature's name in error messages, in lower snake case. */
  readonly name: string;
  /** The configuration keys that the feature adds to `oauth_server`. */
  readonly config?: ConfigShape;
  /**
   * The configuration keys that the feature adds at the top level. They exist only in kit
   * applications with the server as a plugin.
   */
  readonly applicationConfig?: ConfigShape;
  /** The configuration keys that the feature adds to scope objects. */
  readonly scopeConfig?: ConfigShape;
  /**
   * Returns headings that group scopes on pages, in order. A scope appears under the first heading
   * that accepts it.
   */
  scopeHeadings?(config: Config): readonly ScopeHeading[];
  /** Returns the problems of settings that are valid by themselves but cannot be combined. */
  problems?(config: Config, publicUrl: string): readonly ConfigurationProblem[];
  /**
   * Returns the migrations of the feature's own tables, or an empty list if the feature is off. A
   * name consists of `oauth_server_`, the feature's name, four digits and a word, for example
   * `oauth_server_device_0001_codes`. Never change a released migration.
   */
  migrations?(config: Config): readonly Migration[];
  /**
   * Returns the objects that access the feature's tables. Declare their types in `FeatureRecords`.
   * The server adds them to `Server.store` and measures their methods. Portico calls this function
   * once per server, even if the feature is off.
   */
  records?(database: Database): Partial<FeatureRecords>;
  /**
   * Returns true if the feature sends messages through the outbox (`Server.outbox`). The store must
   * then have the outbox tables.
   */
  sendsMessages?(config: Config): boolean;
  /** The error codes that the feature adds to Portico's own. */
  readonly errorCodes?: readonly string[];
  /** Returns the `Authorization` schemes that the feature adds for sending access tokens. */
  tokenSchemes?(config: Config): readonly string[];
  /** The requirements that clients can be registered with because of this feature. */
  readonly clientDemands?: readonly OfferedDemand<Config>[];
  /** The fields that the feature adds to client metadata (RFC 7591 section 2). */
  readonly clientMetadata?: readonly OfferedField<Config>[];
  /** Returns the ways in which an application can become a client without an operator. */
  arrivals?(config: Config): readonly ClientArrival[];
  /**
   * Returns the resources that tokens can be issued for, in addition to `oauth_server:audience`.
   */
  resources?(config: Config, publicUrl: string): readonly ResourceDescription[];
  /** Returns the issuers other than this server whose assertions the feature accepts. */
  trustedIssuers?(config: Config): readonly TrustedIssuer[];
  /** The security profile that the feature provides. */
  readonly profile?: ProfileOffer<Config>;
  /** The algorithms that the feature adds for signing ID tokens. */
  readonly signingAlgorithms?: readonly AlgorithmForm[];
  /** The message catalogs for languages other than English, by language tag (BCP 47). */
  readonly messages?: Catalogs;
  /** The endpoints that the feature adds. They exist only if the feature is on. */
  readonly endpoints?: readonly EndpointDescription[];
  /** Loads the console commands that the feature adds. */
  commands?(): Promise<AddCommands>;
  /**
   * Returns the branding of the pages. With null, the pages use another feature's branding, or
   * Portico's default design.
   */
  branding?(config: Config, place: BrandedPlace): FoundBranding;
  /**
   * Returns the object that measures a server for the application's `telemetry`. Called only if the
   * application passes `telemetry`, before the server's other objects exist. Use `log` only after
   * the server has started. `errorCodes` contains the codes of all features. At most one feature
   * can have this function.
   */
  measuring?(
    telemetry: Telemetry,
    database: Database,
    log: () => Log,
    errorCodes: readonly string[],
  ): Measuring;
  /** Adds the feature to a server. Called once per server, even if the feature is off. */
  start?(server: Server, config: Config): Contribution;
  /**
   * Adds the feature to a kit application with the server as a plugin. Called after the server has
   * added its routes.
   */
  register?(application: Application, server: AuthorizationServer): void;
}

/** A requirement for clients that some servers can enforce. */
export interface OfferedDemand<Config = OAuthServerConfig> extends DemandDescription {
  /** Returns true if a server with this configuration can enforce the requirement. */
  meets(config: Config): boolean;
}

/** A client metadata field that some servers offer. */
export interface OfferedField<Config = OAuthServerConfig> extends MetadataField {
  /** Returns true if a server with this configuration offers the field. */
  isOffered(config: Config): boolean;
}

/** A security profile, and what it requires of a server. */
export interface ProfileOffer<Config = OAuthServerConfig> extends SecurityProfile {
  /** Returns true if the profile applies to the whole server. */
  isServers(config: Config): boolean;
  /** The `oauth_server` settings that a profile for the whole server demands. */
  readonly demanded: Readonly<Record<string, unknown>>;
  /**
   * What other features must contribute to a profile for the whole server. Without it, the server
   * does not start.
   */
  readonly needs: readonly (keyof Contribution)[];
  /** Returns the configuration's problems with a profile for the whole server. */
  problems(config: Config): readonly ConfigurationProblem[];
  /** Returns the settings to turn on before the profile can apply to single clients. */
  missing(config: Config): readonly string[];
}

/** What a feature contributes to one server. */
export interface Contribution {
  /** Members that the feature adds to the server's metadata (RFC 8414 section 2). */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Values that the feature adds to lists in the server's metadata. */
  readonly metadataValues?: MetadataValues;
  /**
   * Finds clients that use the server without registration. At most one feature can provide this.
   */
  readonly clientSource?: ClientSource;
  /**
   * Authenticates clients by their own keys, with the clients from `source`. At most one feature
   * can provide this.
   */
  readonly clientAssertions?: (source: ClientSource | null) => OwnAssertions;
  /**
   * Authenticates workloads as clients. Each entry is for one type of workload token. At most one
   * feature can provide this.
   */
  readonly workloads?: readonly ClientAssertions[];
  /** Binds tokens to a key that the client must prove. At most one feature can provide this. */
  readonly binding?: KeyBinding;
  /**
   * Stores authorization requests that clients send directly to the server. At most one feature can
   * provide this.
   */
  readonly directRequests?: DirectRequests;
  /**
   * Returns an error if this client may not send its authorization requests through the browser.
   */
  readonly indirectRefusal?: IndirectRefusal;
  /** Returns true if the server accepts a redirect URI that the client has not registered. */
  readonly mayRedirect?: MayRedirect;
  /** Response modes in addition to `query`. A mode sends responses to the redirect URI. */
  readonly responseModes?: readonly SendingMode[];
  /**
   * Checks of authorization requests. Each one replaces the check with its name in
   * authorization/checks.ts.
   */
  readonly requestChecks?: Readonly<Record<string, RequestCheck>>;
  /**
   * Parameters of an authorization request that the feature reads. A request may contain each of
   * them once. The server stores their values with the request (`AuthorizationRequest.further`).
   */
  readonly requestParameters?: readonly string[];
  /**
   * Sends signed-in users to a page of the host, before the consent page or after they allow the
   * request. At most one feature can provide this.
   */
  readonly interaction?: Interaction;
  /**
   * Returns members for ID tokens or introspection responses. `details` come from an interaction or
   * from `keepsDetails`.
   */
  readonly describe?: DescribesDetails;
  /**
   * Returns details to store with an authorization that a user has just allowed, in addition to
   * those of an interaction. Called before the authorization is stored. Throw an
   * `AuthorizationPageError` to refuse it.
   */
  readonly keepsDetails?: KeepsDetails;
  /** Runs in the transaction that ends sessions of the application. */
  readonly sessionEnded?: OnSessionEnd;
  /**
   * Finds the `sid` of a browser session. Provide this only if the feature adds the claim `sid` to
   * ID tokens. At most one feature can provide this.
   */
  readonly sid?: FindSid;
  /** Removes the feature's data about a person when that person is erased. */
  readonly forgetsPerson?: ForgetsPerson;
  /**
   * Ends the feature's requests that wait for a user's answer. Called when an operator ends all
   * access after restoring a backup.
   */
  readonly endsRequests?: EndsRequests;
  /**
   * Returns true if another authorization of the same user and client must end too. Called when an
   * operator revokes an authorization, with the details of both.
   */
  readonly revokesAlso?: RevokesAlso;
  /**
   * Returns the members that the feature adds to the result of `token()`. Declare their types in
   * `TokenMembers`.
   */
  readonly tokenMembers?: MakesTokenMembers;
  /**
   * Finds the scopes that a user has already allowed a client. A new authorization includes them if
   * the protected API sets `ResourceNeeds.stepUp`. At most one feature can provide this.
   */
  readonly earlierScopes?: EarlierScopes;
  /**
   * Finds an earlier authorization, so that the server can skip the consent page. At most one
   * feature can provide this.
   */
  readonly priorConsent?: PriorConsent;
  /** Called with each answer that a user gives on the consent page. */
  readonly consentAnswered?: ConsentAnswered;
  /**
   * Returns true to leave out a requested scope that the server cannot grant. The server refuses
   * the request if no feature leaves the scope out.
   */
  readonly dropsScope?: DropsScope;
  /**
   * The scopes that a user can choose on the consent page. At most one feature can provide this.
   */
  readonly scopeChoices?: ScopeChoices;
  /**
   * The handlers of the feature's endpoints, by name. An endpoint without a handler does not exist.
   */
  readonly handlers?: (parts: Parts) => Readonly<Record<string, Handler>>;
  /** Endpoints that do not use the server. Portico neither measures nor logs requests to them. */
  readonly plainEndpoints?: readonly Endpoint[];
  /**
   * Returns the properties that the feature adds to the server. Declare their types in
   * `FeatureMembers`.
   */
  readonly members?: (parts: Parts) => Partial<FeatureMembers>;
  /** The grant types that the feature adds. Clients can register for them. */
  readonly grants?: readonly GrantType[];
  /**
   * Reads token requests whose assertion identifies the client. At most one feature can provide
   * this.
   */
  readonly assertionGrant?: AssertionGrant;
  /**
   * Checks and ends access that organizations have granted. Without it, the server accepts no such
   * access. At most one feature can provide this.
   */
  readonly givenAccess?: GivenAccess;
  /** Checks each token before the server issues it, and throws to refuse the token. */
  readonly issuanceCheck?: IssuanceCheck;
  /**
   * The path of the page where users revoke access, including the base path. At most one feature
   * can provide this.
   */
  readonly accessPath?: string;
  /** Checks and serves client logos. At most one feature can provide this. */
  readonly logos?: ClientLogos;
  /**
   * Verifies client secrets in place of the host's password hasher. It must also accept that
   * hasher's hashes. At most one feature can provide this.
   */
  readonly secretHasher?: PasswordHasher;
  /**
   * Decides how to respond to a second use of a refresh token. At most one feature can provide
   * this.
   */
  readonly secondUses?: (rules: RefreshRules, binding: KeyBinding | null) => SecondUses;
  /**
   * Publishes metadata that describes the protected API to clients. At most one feature can provide
   * this.
   */
  readonly resource?: PublishedResource;
  /** Receives all audit events, in addition to the host. At most one feature can provide this. */
  readonly auditSink?: AuditSink;
  /** Delivers the feature's messages in the outbox, with one function for each kind. */
  readonly deliveries?: Readonly<Record<string, Deliver>>;
  /** The feature's rows that can expire. The server removes them after they have expired. */
  readonly expiring?: ExpiringRows;
  /** True if the feature records values that can be used only once, for example DPoP proofs. */
  readonly usesOnce?: boolean;
  /** Returns the part of the doctor's report that examines this feature. */
  readonly examination?: (parts: Parts) => Examination;
}

/** What the feature's endpoints can use. The server creates it after every feature has started. */
export interface Parts {
  /** Manages the registered clients. */
  readonly clients: Clients;
  /**
   * Finds clients without registration, for example by the URL in their client id. Null if no
   * feature provides this.
   */
  readonly clientSource: ClientSource | null;
  /** Checks client secrets. */
  readonly secrets: ClientSecrets;
  /** Checks authorization requests. */
  readonly checks: RequestChecks;
  /** Binds tokens to a key that the client must prove. Null if the server does not bind tokens. */
  readonly binding: KeyBinding | null;
  /**
   * Authenticates the clients that `findClient` finds, at the endpoints with these paths. Any of
   * these endpoints may be the audience of a client assertion.
   */
  authenticating(findClient: FindClient, ...paths: readonly string[]): ClientAuthentication;
  /**
   * Returns the details for an authorization that a user allows on a page of the feature. `request`
   * contains the user's answer.
   */
  authorizationDetails(request: Request): Promise<Details | undefined>;
  /** Finds the `sid` of a browser session. Null if ID tokens contain no `sid`. */
  readonly sid: FindSid | null;
  /** Checks and serves client logos. Null if no feature provides them. */
  readonly logos: ClientLogos | null;
  /** The path of the page where users revoke access. Null if no feature provides this page. */
  readonly accessPath: string | null;
  /** Returns the whole server. Call this function only while you are handling a request. */
  readonly server: () => AuthorizationServer;
  /** The application that the doctor examines. Null if the doctor has access only to the store. */
  readonly examined: ExaminedApplication | null;
}

/**
 * Defines a feature. The `config` parameter of its functions is the section `oauth_server`,
 * including the keys from the feature's `config`. Pass the feature to `oauthServer()` or
 * `createAuthorizationServer()`.
 *
 * @example
 * const maintenance = defineFeature({
 *   name: 'maintenance',
 *   config: { maintenance: z.boolean().default(false) },
 *   start: (server, { maintenance: isOn }) => (isOn ? { issuanceCheck: refuseAll } : {}),
 * });
 */
export function defineFeature<Shape extends ConfigShape>(
  feature: Feature<OAuthServerConfig & ConfigOf<Shape>> & { readonly config?: Shape },
): Feature {
  return feature;
}
