import type { Access } from './access/access.ts';
import type { PersonReference } from './contracts/person.ts';
import type { WaitingFor, WithHeaders } from './contracts/waiting.ts';
import type { ServerAudit } from './auditing/server-audit.ts';
import type { Sealing } from './authorization/cookie-keys.ts';
import type { ClientDemand } from './clients/demands.ts';
import type { Clients } from './clients/clients.ts';
import type { OAuthServerConfig } from './config.ts';
import type { Examination } from './examination.ts';
import type { Endpoint } from './endpoints/endpoint.ts';
import type { ProtectedRoutes } from './endpoints/protected-routes.ts';
import type { BindingOffer } from './http/challenges.ts';
import type { Health } from './health/health.ts';
import type { CompleteHost } from './host.ts';
import type { Importing } from './importing/contract.ts';
import type { Measuring } from './measuring/measuring.ts';
import type { KeyRing } from './keys/key-ring.ts';
import type { Profiles } from './profiles/profiles.ts';
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
  /** The security profiles that clients are held to. */
  readonly profiles: Profiles;
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
  /** The scopes among these whose permission the person holds now, whether or not a client was allowed them. */
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
  /** What the doctor examines of its features. */
  readonly examinations: readonly Examination[];
  /** For what is kept outside of the server, and comes back. */
  readonly sealing: Sealing;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}
