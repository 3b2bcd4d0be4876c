import type { Database } from '@portico/sql';
import type { Access } from './access/access.ts';
import type { PersonReference } from './contracts/person.ts';
import type { Telemetry } from './contracts/telemetry.ts';
import type { WaitingFor, WithHeaders } from './contracts/waiting.ts';
import type { ServerAudit } from './auditing/server-audit.ts';
import type { Sealing } from './authorization/cookie-keys.ts';
import type { ClientDemand } from './clients/demands.ts';
import type { Clients } from './clients/clients.ts';
import type { OAuthServerConfig } from './config.ts';
import type { Endpoint } from './endpoints/endpoint.ts';
import type { Feature } from './feature.ts';
import type { ProtectedRoutes } from './endpoints/protected-routes.ts';
import type { BindingOffer } from './http/challenges.ts';
import type { Health } from './health/health.ts';
import type { CompleteHost, Host } from './host.ts';
import type { Importing } from './importing/contract.ts';
import type { Measuring } from './measuring/measuring.ts';
import type { KeyRing } from './keys/key-ring.ts';
import type { KeySigner } from './keys/signers.ts';
import type { OutboundOptions } from './outbound/fetch-json.ts';
import type { ResourceNeeds } from './protected-resource.ts';
import type { InitialAccessTokens } from './registering/initial-access-tokens.ts';
import type { Client } from './store/client.ts';
import type { PrunedRows } from './store/pruning.ts';

/** The authorization server inside a host application. */
export interface AuthorizationServer extends ProtectedRoutes {
  /** The issuer (RFC 8414 section 2): the origin of `public_url`, without a slash, and `base_path`. */
  readonly issuer: string;
  /** The origin alone: what a browser's `Origin` is compared with, and what a Request for an endpoint is made of. */
  readonly origin: string;
  /** `base_path`: empty, or such as `/auth`. */
  readonly basePath: string;
  /** What stands before every endpoint's path in a request that arrives: `base_path`, or nothing when a proxy takes it away. */
  readonly mountPath: string;
  /** The section `oauth_server`, validated and with its defaults. */
  readonly config: OAuthServerConfig;
  /** To be mounted by path and method; each answers by itself and never rejects. */
  readonly endpoints: readonly Endpoint[];
  /** The names of endpoints that a CSRF check of the application has to leave alone, each with true, whether or not they are offered. */
  readonly csrfExemptRoutes: Readonly<Record<string, boolean>>;
  /** The registered applications. */
  readonly clients: Clients;
  /** What clients may demand of it. */
  readonly demands: readonly ClientDemand[];
  /** Who holds access, and its end. */
  readonly access: Access;
  /** Takes over the clients of another server, and what it called people. */
  readonly importing: Importing;
  /** With what clients register themselves, when `oauth_server:registration` is on. */
  readonly initialAccessTokens: InitialAccessTokens;
  /**
   * What is wrong with the keys by which this client authenticates, as they are now: those that it publishes are fetched. Empty for a
   * client without any.
   */
  clientKeyProblems(client: Client): Promise<readonly string[]>;
  /** The signing keys of `key_path`, and those that are no files. */
  readonly keys: KeyRing;
  /**
   * For a sign-in page of the application's own: the authorization request that brought this browser to it. `returnTo` is where the page
   * sends people on to. Null when that is not the authorization endpoint, when the request was another browser's, waited longer than
   * `consent_ttl`, or was not the last of this browser to be sent to sign in. Throws unless the host has `tellsWhoWaits`.
   */
  waitingFor(request: WithHeaders, returnTo: string | null | undefined): Promise<WaitingFor | null>;
  /** Whether a scope of this name is built in or configured. */
  offers(scope: string): boolean;
  /** Those of these scopes whose permission the person holds now, whether or not anybody was allowed them. */
  scopesHeldBy(person: PersonReference, scopes: readonly string[]): Promise<readonly string[]>;
  /** Adds to what the API that tokens are for needs beside them; to be called before requests are answered. */
  serveResource(needs: ResourceNeeds): void;
  /** Removes expired rows, in small batches; safe while serving. `onBatch` is told after each how many went so far. */
  prune(onBatch?: (removed: PrunedRows) => void): Promise<PrunedRows>;
  /** What probes ask: whether the server can serve now. */
  readonly health: Health;
  /** What the server knows of the application it runs in. */
  readonly host: CompleteHost;
  /**
   * Hands an event to the host, as the server does with its own, and records it where that is switched on. Never rejects. What is kept is
   * read by its methods.
   */
  readonly audit: ServerAudit;
  /** What the resources that its tokens are for say of tokens that are bound to a key; null where there are none. */
  readonly binding: BindingOffer | null;
  /** Takes what is measured, also of what is mounted beside the server; null unless `telemetry` was given. */
  readonly measuring: Measuring | null;
  /** For what is kept outside of the server, and comes back. */
  readonly sealing: Sealing;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/** What a server is made of. */
export interface AuthorizationServerOptions<Context = unknown> {
  /** The public origin of the application, `public_url`; with `basePath` it is the issuer. */
  readonly publicUrl: string;
  /** What stands before the path of every endpoint, such as `/auth`; empty unless given. It is part of the issuer. */
  readonly basePath?: string;
  /** Whether a proxy takes `basePath` away before a request arrives; false unless given. */
  readonly basePathStripped?: boolean;
  /** The section `oauth_server`, as `oauthServerConfiguration` validates it. */
  readonly config: OAuthServerConfig;
  /** The application that the server asks about people and browsers. */
  readonly host: Host<Context>;
  /**
   * Features of the application's own, beside those of Portico (docs/extending.md). `config` is validated by `configurationWith(features)`.
   *
   * @example
   * createAuthorizationServer({ publicUrl, config, host, database, features: [maintenance] });
   */
  readonly features?: readonly Feature[];
  /** Where the server keeps what it issues; its schema is `oauthServerMigrations`. */
  readonly database: Database;
  /** Milliseconds since 1970; the system's clock unless a test says otherwise. */
  readonly clock?: () => number;
  /**
   * Whether this is development: the error page shows details that are meant for the log, and where `publicUrl` is on loopback, the
   * documents of clients may be, too. False unless given.
   */
  readonly showsDetails?: boolean;
  /** How documents of clients are fetched; as the system does unless given. */
  readonly outbound?: OutboundOptions;
  /** Measures what the server does: `opentelemetry()` of `portico/telemetry`. Nothing is measured unless given. */
  readonly telemetry?: Telemetry;
  /**
   * The folder of messages of the application's own, `<tag>.json`, which change the words of the pages or add a language (docs/pages.md); absolute,
   * none unless given.
   */
  readonly messages?: string;
  /** Signing keys that are no files; none unless given. Those of a server's processes are the same. */
  readonly keySigners?: readonly KeySigner[];
  /**
   * Returns a number from 0 up to, and not including, 1. It decides which attempts go ahead while somebody guesses client
   * secrets; the system's random source unless a test says otherwise.
   */
  readonly random?: () => number;
}
