import type { ConfigurationProblem } from '@portico/sql';
import type { DirectRequests, IndirectRefusal } from './authorization/direct-requests.ts';
import type { RequestChecks } from './authorization/request.ts';
import type { AuditSink } from './auditing/server-audit.ts';
import type { AddCommands, Application } from './application/contracts.ts';
import type { AuthorizationServer, FeatureMembers } from './authorization-server.ts';
import type { ClientAssertions } from './clients/client-assertions.ts';
import type { ClientSource } from './clients/client-source.ts';
import type { ExaminedApplication, Examination } from './examination.ts';
import type { ClientAuthentication } from './clients/authentication.ts';
import type { PasswordHasher } from './contracts/password-hasher.ts';
import type { BrandedPlace, FoundBranding } from './contracts/branding.ts';
import type { ConfigSchema } from './contracts/config-schema.ts';
import type { Clients, FindClient } from './clients/clients.ts';
import type { Endpoint, Handler } from './endpoints/endpoint.ts';
import type { EndpointDescription } from './endpoints/table.ts';
import type { ClientLogos } from './clients/logos.ts';
import type { MayRedirect } from './clients/redirect-uris.ts';
import type { ClientSecrets } from './clients/secrets.ts';
import type { DemandDescription } from './store/client-demands.ts';
import type { OAuthServerConfig } from './config.ts';
import type { RefreshRules, SecondUses } from './grants/second-uses.ts';
import type { GrantType } from './grants/grant-types.ts';
import type { IssuanceCheck } from './grants/issuing.ts';
import type { AlgorithmForm } from './keys/algorithms.ts';
import type { SendingMode } from './replies/sending.ts';
import type { ClientArrival, Server } from './server.ts';
import type { ExpiringRows } from './store/pruning.ts';
import type { PublishedResource } from './resource/protected-resource.ts';
import type { Catalogs } from './words/speaking.ts';
import type { SecurityProfile } from './profiles.ts';
import type { DropsScope } from './tokens/dropped-scopes.ts';
import type { KeyBinding } from './tokens/key-binding.ts';
import type { ScopeHeading } from './tokens/scopes.ts';

/** Keys of the configuration, each with its schema. */
export type ConfigShape = Readonly<Record<string, ConfigSchema>>;

/** The values of these keys, validated. */
export type ConfigOf<Shape extends ConfigShape> = {
  readonly [Key in keyof Shape]?: Shape[Key]['_zod']['output'] | undefined;
};

/**
 * A feature of the server, independent of how a server is configured. `Config` is the section
 * `oauth_server` with the keys of the feature; each function receives it.
 */
export interface Feature<Config = OAuthServerConfig> {
  /** Names it in problems: lower snake case. */
  readonly name: string;
  /** Its keys under `oauth_server`. */
  readonly config?: ConfigShape;
  /** Its keys of the application that the server is a plugin of, beside the section. */
  readonly applicationConfig?: ConfigShape;
  /** Its keys of a scope that is configured as an object. */
  readonly scopeConfig?: ConfigShape;
  /**
   * The headings of lists of scopes, in their order: a scope stands below the first that holds it.
   */
  scopeHeadings?(config: Config): readonly ScopeHeading[];
  /** Problems of keys that are valid on their own but not together. */
  problems?(config: Config, publicUrl: string): readonly ConfigurationProblem[];
  /** Its error codes, in addition to those of the core. */
  readonly errorCodes?: readonly string[];
  /** The schemes of `Authorization` for its tokens. */
  tokenSchemes?(config: Config): readonly string[];
  /** What clients may require from it. */
  readonly clientDemands?: readonly OfferedDemand<Config>[];
  /** How clients come that no operator registers, as the server is configured. */
  arrivals?(config: Config): readonly ClientArrival[];
  /** The security profile that it offers. */
  readonly profile?: ProfileOffer<Config>;
  /** Algorithms that ID tokens can be signed with. */
  readonly signingAlgorithms?: readonly AlgorithmForm[];
  /** Message catalogs of languages besides English, by tag (BCP 47). */
  readonly messages?: Catalogs;
  /** Its URLs, wherever it is switched on. */
  readonly endpoints?: readonly EndpointDescription[];
  /** Loads its commands for the console. */
  commands?(): Promise<AddCommands>;
  /** The look of the pages; null for that of another feature, or Portico's own design. */
  branding?(config: Config, place: BrandedPlace): FoundBranding;
  /** Adds it to a server. Called once for each server, even if its keys leave it off. */
  start?(server: Server, config: Config): Contribution;
  /** Adds it to an application whose plugin the server is, after the server's routes. */
  register?(application: Application, server: AuthorizationServer): void;
}

/** A requirement, and whether a server meets it. */
export interface OfferedDemand<Config = OAuthServerConfig> extends DemandDescription {
  /** Whether it is met as the server is configured. */
  meets(config: Config): boolean;
}

/** A security profile, and what it demands of a server. */
export interface ProfileOffer<Config = OAuthServerConfig> extends SecurityProfile {
  /** Whether the whole server is held to it. */
  isServers(config: Config): boolean;
  /** The keys of `oauth_server` that it sets for such a server. */
  readonly demanded: Readonly<Record<string, unknown>>;
  /** What features must contribute to such a server, which does not start without it. */
  readonly needs: readonly (keyof Contribution)[];
  /** What is wrong with the configuration of such a server. */
  problems(config: Config): readonly ConfigurationProblem[];
  /** The keys that must be switched on where only single clients are held to it, and are off. */
  missing(config: Config): readonly string[];
}

/** What a feature adds to one server. */
export interface Contribution {
  /** Members of the metadata (RFC 8414 section 2). */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Clients that no one registered; at most one feature has them. */
  readonly clientSource?: ClientSource;
  /** Authenticates clients with keys, also those of this source; at most one feature does. */
  readonly clientAssertions?: (source: ClientSource | null) => ClientAssertions;
  /** Binds tokens to a key of their client; at most one feature does. */
  readonly binding?: KeyBinding;
  /** Keeps authorization requests that clients send directly; at most one feature does. */
  readonly directRequests?: DirectRequests;
  /** Refuses an authorization request that comes only through a browser. */
  readonly indirectRefusal?: IndirectRefusal;
  /** Accepts a redirect URI that a client is not registered with. */
  readonly mayRedirect?: MayRedirect;
  /** Ways, besides the query, in which responses reach the redirect URIs of clients. */
  readonly responseModes?: readonly SendingMode[];
  /** Drops a requested scope that cannot be granted, instead of refusing the request. */
  readonly dropsScope?: DropsScope;
  /** Answers requests for its endpoints, by their names; one that is missing is not offered. */
  readonly handlers?: (parts: Parts) => Readonly<Record<string, Handler>>;
  /** Endpoints that need nothing of the server: it measures and records nothing of them. */
  readonly plainEndpoints?: readonly Endpoint[];
  /** Its members of the server, which it declares in `FeatureMembers`. */
  readonly members?: (parts: Parts) => Partial<FeatureMembers>;
  /** Its grant types, which clients can be registered for. */
  readonly grants?: readonly GrantType[];
  /** Refuses to issue a token. */
  readonly issuanceCheck?: IssuanceCheck;
  /**
   * Where people revoke what they allowed, as browsers request it; at most one feature has that
   * page.
   */
  readonly accessPath?: string;
  /** Pictures of clients; at most one feature has them. */
  readonly logos?: ClientLogos;
  /**
   * Verifies client secrets instead of the host's hasher, and must accept the hashes that it made;
   * at most one feature does.
   */
  readonly secretHasher?: PasswordHasher;
  /** Decides what a second use of a refresh token gets; at most one feature does. */
  readonly secondUses?: (rules: RefreshRules, binding: KeyBinding | null) => SecondUses;
  /** How the API that tokens are for is made known to clients; at most one feature does. */
  readonly resource?: PublishedResource;
  /** Takes audit events besides the host; at most one feature does. */
  readonly auditSink?: AuditSink;
  /** Its rows that are removed after a time. */
  readonly expiring?: ExpiringRows;
  /** Whether it accepts anything that works once, such as a signed statement. */
  readonly usesOnce?: boolean;
  /** What the doctor examines of it. */
  readonly examination?: (parts: Parts) => Examination;
}

/**
 * What endpoints of features can use: the parts of a server that are made once every feature has
 * started.
 */
export interface Parts {
  /** The registered applications. */
  readonly clients: Clients;
  /** Clients that no one registered; null where there are none. */
  readonly clientSource: ClientSource | null;
  /** Checks the secrets of clients. */
  readonly secrets: ClientSecrets;
  /** The checks of an authorization request. */
  readonly checks: RequestChecks;
  /** How tokens are bound to a key; null if they are not. */
  readonly binding: KeyBinding | null;
  /**
   * Authenticates these clients at the endpoints of these paths: an assertion may name the server
   * by either.
   */
  authenticating(findClient: FindClient, ...paths: readonly string[]): ClientAuthentication;
  /** Pictures of clients; null if they have none. */
  readonly logos: ClientLogos | null;
  /** The whole server, for use while requests are answered. */
  readonly server: () => AuthorizationServer;
  /** What the doctor examines; null if only the store of the application is known. */
  readonly examined: ExaminedApplication | null;
}

/**
 * A feature. Each of its functions receives the section `oauth_server` with the keys of its
 * `config`.
 */
export function defineFeature<Shape extends ConfigShape>(
  feature: Feature<OAuthServerConfig & ConfigOf<Shape>> & { readonly config?: Shape },
): Feature {
  return feature;
}
