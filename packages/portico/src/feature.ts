import type { ConfigurationProblem, Database, Log, Migration } from '@portico/sql';
import type { ConsentAnswered, PriorConsent } from './store/prior-consent.ts';
import type { DirectRequests, IndirectRefusal } from './authorization/direct-requests.ts';
import type { TrustedIssuer } from './assertions/trusted-issuer.ts';
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
import type { PasswordHasher } from './defaults/password-hasher.ts';
import type { BrandedPlace, FoundBranding } from './branding.ts';
import type { MetadataField } from './further-metadata/further-metadata.ts';
import type { Clients, FindClient } from './clients/clients.ts';
import type { Endpoint, Handler } from './endpoints/endpoint.ts';
import type { EndpointDescription } from './endpoints/table.ts';
import type { ClientLogos } from './clients/logos.ts';
import type { MayRedirect } from './clients/redirect-uris.ts';
import type { ClientSecrets } from './clients/secrets.ts';
import type { DemandDescription } from './store/client-demands.ts';
import type { ConfigSchema, OAuthServerConfig } from './config.ts';
import type { RefreshRules, SecondUses } from './grants/second-uses.ts';
import type { GrantType } from './grants/grant-types.ts';
import type { ForgetsPerson, RevokesAlso } from './grants/access.ts';
import type { EndsRequests } from './grants/restored-access.ts';
import type { IssuanceCheck } from './grants/issuing.ts';
import type { Deliver } from './outbox/message.ts';
import type { AlgorithmForm } from './keys/algorithms.ts';
import type { OnSessionEnd } from './session-ends.ts';
import type { Measuring, Telemetry } from './measuring.ts';
import type { MetadataValues } from './metadata.ts';
import type { SendingMode } from './replies/sending.ts';
import type { ClientArrival, Server } from './server.ts';
import type { Details } from './store/grant.ts';
import type { ExpiringRows } from './store/pruning.ts';
import type { PublishedResource } from './resource/protected-resource.ts';
import type { MakesTokenMembers } from './resource/token-accessor.ts';
import type { Catalogs } from './words/speaking.ts';
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

/** The values of these configuration keys after validation. */
export type ConfigOf<Shape extends ConfigShape> = {
  readonly [Key in keyof Shape]?: Shape[Key]['_zod']['output'] | undefined;
};

/**
 * A feature of the server. It does not depend on the configuration of one server. `Config` is the
 * section `oauth_server` with the feature's own keys. Each function receives it.
 */
export interface Feature<Config = OAuthServerConfig> {
  /** The feature's name in problems, in lower snake case. */
  readonly name: string;
  /** The feature's configuration keys under `oauth_server`. */
  readonly config?: ConfigShape;
  /**
   * The feature's top-level configuration keys. They exist if the server is a plugin of a kit
   * application.
   */
  readonly applicationConfig?: ConfigShape;
  /** The configuration keys that the feature adds to a scope object. */
  readonly scopeConfig?: ConfigShape;
  /**
   * Returns headings for lists of scopes, in order. A scope appears below the first heading that
   * accepts it.
   */
  scopeHeadings?(config: Config): readonly ScopeHeading[];
  /** Returns the problems of settings that are valid alone, but not together. */
  problems?(config: Config, publicUrl: string): readonly ConfigurationProblem[];
  /**
   * Returns the migrations of the feature's own tables, in order. Return no migrations if the
   * feature is turned off. A name begins with `oauth_server_`, followed by the feature's name and a
   * number: `oauth_server_device_0001_codes`. A released migration never changes.
   */
  migrations?(config: Config): readonly Migration[];
  /**
   * Returns whether the feature sends messages through the outbox (`Server.outbox`). If any feature
   * does, the store must have the tables of the outbox.
   */
  sendsMessages?(config: Config): boolean;
  /** The feature's error codes, in addition to the core's. */
  readonly errorCodes?: readonly string[];
  /** Returns the `Authorization` schemes for its tokens. */
  tokenSchemes?(config: Config): readonly string[];
  /** The demands that clients can be registered with. */
  readonly clientDemands?: readonly OfferedDemand<Config>[];
  /** Fields that the feature adds to the metadata of clients (RFC 7591 section 2). */
  readonly clientMetadata?: readonly OfferedField<Config>[];
  /** Returns the ways in which applications can become clients without an operator. */
  arrivals?(config: Config): readonly ClientArrival[];
  /** Returns the resources that tokens can be for, in addition to `oauth_server:audience`. */
  resources?(config: Config, publicUrl: string): readonly ResourceDescription[];
  /** Returns the other issuers whose assertions the feature accepts. */
  trustedIssuers?(config: Config): readonly TrustedIssuer[];
  /** The security profile that the feature offers. */
  readonly profile?: ProfileOffer<Config>;
  /** Algorithms for signing ID tokens. */
  readonly signingAlgorithms?: readonly AlgorithmForm[];
  /** Message catalogs for languages besides English, by language tag (BCP 47). */
  readonly messages?: Catalogs;
  /** The feature's endpoints. They exist only if the feature is turned on. */
  readonly endpoints?: readonly EndpointDescription[];
  /** Loads the feature's console commands. */
  commands?(): Promise<AddCommands>;
  /**
   * Returns the branding of the pages. Return null to use another feature's branding or Portico's
   * own design.
   */
  branding?(config: Config, place: BrandedPlace): FoundBranding;
  /**
   * Measures a server for the application's `telemetry`. Portico calls it only if the application
   * has a telemetry, and before it creates the parts of the server. You can use `log` after the
   * server has started. `errorCodes` contains the error codes of all features. At most one feature
   * can have this function.
   */
  measuring?(
    telemetry: Telemetry,
    database: Database,
    log: () => Log,
    errorCodes: readonly string[],
  ): Measuring;
  /**
   * Adds the feature to a server. Portico calls it once for each server, even if the feature is
   * turned off.
   */
  start?(server: Server, config: Config): Contribution;
  /**
   * Adds the feature to a kit application that uses the server as a plugin. Portico calls it after
   * the server has added its routes.
   */
  register?(application: Application, server: AuthorizationServer): void;
}

/** A demand of clients, with a check whether a server meets it. */
export interface OfferedDemand<Config = OAuthServerConfig> extends DemandDescription {
  /** Whether a server with this configuration meets the demand. */
  meets(config: Config): boolean;
}

/** A field in the metadata of clients, with a check whether a server offers it. */
export interface OfferedField<Config = OAuthServerConfig> extends MetadataField {
  /** Whether a server with this configuration offers the field. */
  isOffered(config: Config): boolean;
}

/** A security profile, with what it requires of a server. */
export interface ProfileOffer<Config = OAuthServerConfig> extends SecurityProfile {
  /** Whether the profile applies to the whole server. */
  isServers(config: Config): boolean;
  /** The `oauth_server` settings that the profile sets when it applies to the whole server. */
  readonly demanded: Readonly<Record<string, unknown>>;
  /**
   * The contributions that features must make when the profile applies to the whole server. If one
   * is missing, the server does not start.
   */
  readonly needs: readonly (keyof Contribution)[];
  /** Returns the problems of the configuration when the profile applies to the whole server. */
  problems(config: Config): readonly ConfigurationProblem[];
  /**
   * Returns the configuration keys that are off, but must be on when the profile applies to single
   * clients.
   */
  missing(config: Config): readonly string[];
}

/** What a feature adds to one server. */
export interface Contribution {
  /** Metadata members (RFC 8414 section 2). */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Values for lists that the metadata of the OpenID provider already contains. */
  readonly metadataValues?: MetadataValues;
  /** Finds clients that were never registered. At most one feature can provide this. */
  readonly clientSource?: ClientSource;
  /**
   * Authenticates clients by their keys, including clients from this source. At most one feature
   * can provide this.
   */
  readonly clientAssertions?: (source: ClientSource | null) => OwnAssertions;
  /**
   * Authenticates clients that are workloads, for each type of their tokens. At most one feature
   * can provide this.
   */
  readonly workloads?: readonly ClientAssertions[];
  /** Binds tokens to a client's key. At most one feature can provide this. */
  readonly binding?: KeyBinding;
  /**
   * Stores authorization requests that clients send directly to the server. At most one feature can
   * provide this.
   */
  readonly directRequests?: DirectRequests;
  /**
   * Returns an error for an authorization request that a client must not send through a browser
   * only.
   */
  readonly indirectRefusal?: IndirectRefusal;
  /** Returns whether to accept a redirect URI that is not registered for the client. */
  readonly mayRedirect?: MayRedirect;
  /** Response modes in addition to `query`. A mode sends responses to a client's redirect URI. */
  readonly responseModes?: readonly SendingMode[];
  /**
   * Checks of authorization requests that replace the core's checks. The names are those in
   * authorization/checks.ts.
   */
  readonly requestChecks?: Readonly<Record<string, RequestCheck>>;
  /**
   * Parameters of authorization requests that the feature reads. A client may send each of them
   * once. The server stores them with the request while it waits. After that, they are in
   * `AuthorizationRequest.further`.
   */
  readonly requestParameters?: readonly string[];
  /**
   * Sends signed-in people to a page of the host before the consent page. At most one feature can
   * provide this.
   */
  readonly interaction?: Interaction;
  /**
   * Returns members for ID tokens or introspection responses. They come from the details of the
   * authorization, which an interaction or `keepsDetails` has stored.
   */
  readonly describe?: DescribesDetails;
  /**
   * Returns details to store with an authorization that a person has just allowed, in addition to
   * those of an interaction. It is called before the server stores the authorization. It can throw
   * an `AuthorizationPageError` to refuse the authorization.
   */
  readonly keepsDetails?: KeepsDetails;
  /** It is called in the transaction in which sessions of the application end. */
  readonly sessionEnded?: OnSessionEnd;
  /** Removes what the feature stores about a person whom an operator erases. */
  readonly forgetsPerson?: ForgetsPerson;
  /**
   * Ends all requests in the feature's tables that wait for a person's answer. It is called when an
   * operator ends all access, after a backup was restored.
   */
  readonly endsRequests?: EndsRequests;
  /**
   * Returns whether an operator who revokes an authorization also revokes another authorization of
   * the same person and client. Receives the details of both.
   */
  readonly revokesAlso?: RevokesAlso;
  /** Returns the members of `token()` that the feature declares in `TokenMembers`. */
  readonly tokenMembers?: MakesTokenMembers;
  /**
   * Finds the scopes that a person has allowed a client before. A new authorization also contains
   * these scopes if the protected API asks for that (`ResourceNeeds.stepUp`). At most one feature
   * can provide this.
   */
  readonly earlierScopes?: EarlierScopes;
  /**
   * Finds earlier consent that allows the server to skip the consent page. At most one feature can
   * provide this.
   */
  readonly priorConsent?: PriorConsent;
  /** Receives people's answers on the consent page. */
  readonly consentAnswered?: ConsentAnswered;
  /** Drops a requested scope that cannot be granted. Otherwise the server refuses the request. */
  readonly dropsScope?: DropsScope;
  /**
   * The scopes that a person can choose on the consent page. At most one feature can provide this.
   */
  readonly scopeChoices?: ScopeChoices;
  /**
   * Handlers for the feature's endpoints, by endpoint name. An endpoint without a handler does not
   * exist on the server.
   */
  readonly handlers?: (parts: Parts) => Readonly<Record<string, Handler>>;
  /** Endpoints that do not use the server. The server does not measure or log requests to them. */
  readonly plainEndpoints?: readonly Endpoint[];
  /** The server properties that the feature declares in `FeatureMembers`. */
  readonly members?: (parts: Parts) => Partial<FeatureMembers>;
  /** The feature's grant types. Clients can be registered for them. */
  readonly grants?: readonly GrantType[];
  /**
   * Reads token requests whose assertion identifies the client. At most one feature can provide
   * this.
   */
  readonly assertionGrant?: AssertionGrant;
  /**
   * Checks and ends access that an organization gave in place of the person. At most one feature
   * can provide this. If none does, the server accepts no such access.
   */
  readonly givenAccess?: GivenAccess;
  /** Checks each token before the server issues it. Throws to refuse the token. */
  readonly issuanceCheck?: IssuanceCheck;
  /**
   * The path of the page where people revoke access. It contains the base path. At most one feature
   * can provide this.
   */
  readonly accessPath?: string;
  /** Client logos. At most one feature can provide this. */
  readonly logos?: ClientLogos;
  /**
   * Verifies client secrets in place of the host's hasher. It must accept the hashes that the
   * host's hasher has made. At most one feature can provide this.
   */
  readonly secretHasher?: PasswordHasher;
  /**
   * Decides how the server responds to a second use of a refresh token. At most one feature can
   * provide this.
   */
  readonly secondUses?: (rules: RefreshRules, binding: KeyBinding | null) => SecondUses;
  /** Describes the protected API to clients. At most one feature can provide this. */
  readonly resource?: PublishedResource;
  /** Receives audit events in addition to the host. At most one feature can provide this. */
  readonly auditSink?: AuditSink;
  /** Delivers the feature's messages from the outbox, for each kind of message. */
  readonly deliveries?: Readonly<Record<string, Deliver>>;
  /** The feature's rows that the server removes after they have expired. */
  readonly expiring?: ExpiringRows;
  /** Whether the feature uses single-use values, such as a signed text. */
  readonly usesOnce?: boolean;
  /** Returns the doctor's examination of this feature. */
  readonly examination?: (parts: Parts) => Examination;
}

/**
 * The parts of the server that a feature's endpoints can use. They are created after every feature
 * has started.
 */
export interface Parts {
  /** The registered clients. */
  readonly clients: Clients;
  /** Finds clients that were never registered. Null if no feature provides this. */
  readonly clientSource: ClientSource | null;
  /** Checks client secrets. */
  readonly secrets: ClientSecrets;
  /** Checks authorization requests. */
  readonly checks: RequestChecks;
  /** Binds tokens to a key. Null if tokens are not bound. */
  readonly binding: KeyBinding | null;
  /**
   * Returns the authentication for these clients at the endpoints with these paths. A client
   * assertion may name any of these endpoints as its audience.
   */
  authenticating(findClient: FindClient, ...paths: readonly string[]): ClientAuthentication;
  /**
   * Returns the details for an authorization that the person of this request allows on a feature's
   * page. Returns undefined if there are no details.
   */
  authorizationDetails(request: Request): Promise<Details | undefined>;
  /** Client logos. Null if no feature provides them. */
  readonly logos: ClientLogos | null;
  /** The path of the page where people revoke access. Null if no feature provides it. */
  readonly accessPath: string | null;
  /** Returns the whole server. Call it only while you handle a request. */
  readonly server: () => AuthorizationServer;
  /** The application that the doctor examines. Null if only its store is known. */
  readonly examined: ExaminedApplication | null;
}

/**
 * Defines a feature. Each of its functions receives the section `oauth_server`, with the keys in
 * the feature's `config`.
 */
export function defineFeature<Shape extends ConfigShape>(
  feature: Feature<OAuthServerConfig & ConfigOf<Shape>> & { readonly config?: Shape },
): Feature {
  return feature;
}
