import type { Access } from './grants/access.ts';
import type { PersonReference } from './contracts/person.ts';
import type { WaitingFor, WithHeaders } from './contracts/waiting.ts';
import type { ServerAudit } from './auditing/server-audit.ts';
import type { Sealing } from './authorization/cookie-keys.ts';
import type { ClientArrival } from './server.ts';
import type { GrantTypes } from './store/grant-types.ts';
import type { ClientDemand } from './store/client-demands.ts';
import type { Clients } from './clients/clients.ts';
import type { InitialAccessTokens } from './clients/initial-access-tokens.ts';
import type { OAuthServerConfig } from './config.ts';
import type { Examination } from './examination.ts';
import type { Endpoint } from './endpoints/endpoint.ts';
import type { ProtectedRoutes } from './endpoints/protected-routes.ts';
import type { BindingOffer } from './http/challenges.ts';
import type { CompleteHost } from './host.ts';
import type { Measuring } from './measuring/measuring.ts';
import type { KeyRing } from './keys/key-ring.ts';
import type { Profiles } from './profiles.ts';
import type { ResourceNeeds } from './resource/protected-resource.ts';
import type { Client } from './store/client.ts';
import type { ExpiringRows, PrunedRows } from './store/pruning.ts';

/** Members of the server that features add. Each feature declares its own here. */
export interface FeatureMembers {
  /** What clients need to register themselves, if `oauth_server:registration` is on. */
  readonly initialAccessTokens: InitialAccessTokens;
}

/** The authorization server inside a host application. */
export interface AuthorizationServer extends ProtectedRoutes, FeatureMembers {
  /**
   * The issuer (RFC 8414 section 2): the origin of `public_url`, without a slash, and `base_path`.
   */
  readonly issuer: string;
  /**
   * Only the origin: what a browser's `Origin` is compared with, and the base of a Request for an
   * endpoint.
   */
  readonly origin: string;
  /** `base_path`: empty, or such as `/auth`. */
  readonly basePath: string;
  /** The path prefix of requests as they arrive: `base_path`, or empty if a proxy removes it. */
  readonly mountPath: string;
  /** The section `oauth_server`, validated and with its defaults. */
  readonly config: OAuthServerConfig;
  /** Mount these by path and method. Each answers by itself and never rejects. */
  readonly endpoints: readonly Endpoint[];
  /**
   * The names of endpoints that the application's CSRF check must exempt, each with true, whether
   * or not they are offered.
   */
  readonly csrfExemptRoutes: Readonly<Record<string, boolean>>;
  /** The registered applications. */
  readonly clients: Clients;
  /** How clients come that no operator registers, by its features. */
  readonly arrivals: readonly ClientArrival[];
  /** Whether a client can come without an operator. */
  readonly admitsUnverified: boolean;
  /** Whether clients can authenticate with keys of their own. */
  readonly takesKeys: boolean;
  /** The grant types that it offers. */
  readonly grantTypes: GrantTypes;
  /** What clients may require from it. */
  readonly demands: readonly ClientDemand[];
  /** The security profiles that clients are held to. */
  readonly profiles: Profiles;
  /** Who holds access, and its end. */
  readonly access: Access;
  /**
   * The problems of the keys with which this client authenticates, as they are now: published keys
   * are fetched. Empty for a client without any.
   */
  clientKeyProblems(client: Client): Promise<readonly string[]>;
  /** The signing keys of `key_path`, and those that are not files. */
  readonly keys: KeyRing;
  /**
   * For the application's own sign-in page: the authorization request that brought this browser to
   * it. `returnTo` is where the page sends people next. Null if that is not the authorization
   * endpoint, if the request belongs to another browser, has waited longer than `consent_ttl`, or
   * is not this browser's last one to be sent to sign-in. Throws unless the host has
   * `tellsWhoWaits`.
   */
  waitingFor(request: WithHeaders, returnTo: string | null | undefined): Promise<WaitingFor | null>;
  /** Whether a scope of this name is built in or configured. */
  offers(scope: string): boolean;
  /**
   * Those of the scopes whose permission the person has now, whether or not a client was allowed
   * them.
   */
  scopesHeldBy(person: PersonReference, scopes: readonly string[]): Promise<readonly string[]>;
  /**
   * The URL of the metadata of that API (RFC 9728), which challenges name; null if they name none.
   */
  readonly resourceMetadataUrl: string | null;
  /** Adds what the API of the tokens needs besides them. Call it before requests are answered. */
  serveResource(needs: ResourceNeeds): void;
  /**
   * Removes expired rows in small batches. Safe while serving. Calls `onBatch` after each batch
   * with the numbers so far.
   */
  prune(onBatch?: (removed: PrunedRows) => void): Promise<PrunedRows>;
  /** The rows of features that it removes. */
  readonly expiring: readonly ExpiringRows[];
  /** What the server knows about its application. */
  readonly host: CompleteHost;
  /**
   * Passes an event to the host, as the server does with its own events, and stores it if that is
   * on. Never rejects. The methods below read the stored events.
   */
  readonly audit: ServerAudit;
  /** What the resources of its tokens say about bound tokens; null if there are none. */
  readonly binding: BindingOffer | null;
  /**
   * Receives measurements, also from what is mounted with the server; null unless `telemetry` was
   * given.
   */
  readonly measuring: Measuring | null;
  /** The doctor's examinations of its features. */
  readonly examinations: readonly Examination[];
  /** Encrypts values that are stored outside of the server and come back. */
  readonly sealing: Sealing;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}
