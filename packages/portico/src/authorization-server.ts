import type { SqlConnection } from '@portico/sql';
import type { Access } from './grants/access.ts';
import type { PersonReference } from './person.ts';
import type { WaitingFor, WithHeaders } from './authorization/waiting-for.ts';
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
import type { ProtectedApi } from './endpoints/protected-routes.ts';
import type { BindingOffer } from './http/challenges.ts';
import type { CompleteHost } from './host/host.ts';
import type { Measuring } from './measuring.ts';
import type { KeyRing } from './keys/key-ring.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { AfterCommit, EndedSessions } from './host/session-ends.ts';
import type { Profiles } from './profiles.ts';
import type { ResourceNeeds } from './resource/protected-resource.ts';
import type { Client } from './store/client.ts';
import type { ResourceDescription } from './tokens/resource-indicators.ts';
import type { ExpiringRows, PrunedRows } from './store/pruning.ts';

/** Properties that features add to the server. Declare your own feature's properties here. */
export interface FeatureMembers {
  /**
   * The initial access tokens, with which clients register themselves. Present if
   * `oauth_server:registration` is on.
   */
  readonly initialAccessTokens: InitialAccessTokens;
}

/** The authorization server in your application. */
export interface AuthorizationServer extends ProtectedApi, FeatureMembers {
  /**
   * The issuer (RFC 8414 section 2): the origin of `public_url`, followed by `base_path`, without a
   * slash at the end.
   */
  readonly issuer: string;
  /** The setting `base_path`: empty, or a path such as `/auth`. */
  readonly basePath: string;
  /** The path prefix of incoming requests. This is `base_path`, or empty if a proxy removes it. */
  readonly mountPath: string;
  /** The validated section `oauth_server`, with defaults. */
  readonly config: OAuthServerConfig;
  /**
   * The endpoints. Mount each one with its path and methods. A handler always returns a response
   * and never rejects.
   */
  readonly endpoints: readonly Endpoint[];
  /**
   * The endpoints that your application's CSRF check must skip: each name maps to true. Contains
   * turned-off endpoints too.
   */
  readonly csrfExemptRoutes: Readonly<Record<string, boolean>>;
  /** The registered clients. */
  readonly clients: Clients;
  /**
   * The ways in which an application can become a client without an operator. Features provide
   * them.
   */
  readonly arrivals: readonly ClientArrival[];
  /** Whether an application can become a client without an operator. */
  readonly admitsUnverified: boolean;
  /** Whether clients can authenticate with keys of their own. */
  readonly takesKeys: boolean;
  /** The grant types that the server offers. */
  readonly grantTypes: GrantTypes;
  /** The requirements that a client can be registered with, for example bound tokens. */
  readonly demands: readonly ClientDemand[];
  /** The security profiles that the server applies to clients. */
  readonly profiles: Profiles;
  /** Lists authorizations and ends access. */
  readonly access: Access;
  /**
   * Returns the current problems of this client's authentication keys. If the client publishes its
   * keys at a URL, fetches them first. Returns an empty list for a client without keys.
   */
  clientKeyProblems(client: Client): Promise<readonly string[]>;
  /** The signing keys from `key_path` and from the key signers. */
  readonly keys: KeyRing;
  /**
   * Returns the authorization request that sent this browser to your sign-in page. `returnTo` is
   * the URL where your page sends people after sign-in. Throws unless the host has `tellsWhoWaits`.
   *
   * Returns null in these cases:
   *
   * - `returnTo` is not a URL of the authorization endpoint.
   * - The request belongs to another browser, or is older than `consent_ttl`.
   * - Another request has sent this browser to your sign-in page since then.
   */
  waitingFor(request: WithHeaders, returnTo: string | null | undefined): Promise<WaitingFor | null>;
  /**
   * Ends clients' access after sessions of your application have ended, for example at sign-out.
   * Call this method even if `oauth_server:back_channel_logout` is off.
   *
   * Portico notifies the clients that the person signed in to with an ended session, and ends their
   * access (docs/signing-out.md). Rejects if the store cannot be reached. Call the method again
   * then. Throws if the session or the person is not valid.
   *
   * @example
   * await server.sessionEnded({ session: request.session.id });
   * await server.sessionEnded({ person: { provider: 'users', id: '7' } });
   */
  sessionEnded(ended: EndedSessions): Promise<void>;
  /**
   * Like `sessionEnded`, but runs in your own transaction: your change and the end of the clients'
   * access are stored together or not at all. Call the returned function after the commit. It
   * writes the audit events and notifies clients immediately. If you do not call it, clients are
   * notified within half a second.
   *
   * @example
   * const committed = await database.transaction(async (connection) => {
   *   await connection.execute('DELETE FROM sessions WHERE id = ?', [id]);
   *   return server.sessionEndedIn(connection, { session: id });
   * });
   * await committed();
   */
  sessionEndedIn(connection: SqlConnection, ended: EndedSessions): Promise<AfterCommit>;
  /** Whether this scope is built in or configured in `oauth_server:scopes`. */
  offers(scope: string): boolean;
  /**
   * Returns the scopes for which the person has the permission now. Ignores what the person has
   * allowed clients.
   */
  scopesHeldBy(person: PersonReference, scopes: readonly string[]): Promise<readonly string[]>;
  /** Adds settings of the protected API. Call this method before the first request. */
  serveResource(needs: ResourceNeeds): void;
  /** The resources in `oauth_server:resources`. Empty if there are none. */
  readonly resources: readonly ResourceDescription[];
  /**
   * Returns the API with this URL. The API accepts only tokens for this URL. Throws unless the URL
   * is in `oauth_server:resources` or is `oauth_server:audience`.
   *
   * @example
   * server.resource('https://shop.example/api').withToken(request, answer);
   */
  resource(url: string): ProtectedApi;
  /**
   * Records that your application mounts the server. Each mount calls this method. Under
   * `APP_ENV=dev`, the server then prints a warning to standard error if migrations are missing.
   */
  mounted(): void;
  /**
   * Removes expired rows in small batches. You can call this while the server handles requests.
   * After each batch, calls `onBatch` with the totals so far.
   */
  prune(onBatch?: (removed: PrunedRows) => void): Promise<PrunedRows>;
  /** The rows of features that expire. `prune` removes them too. */
  readonly expiring: readonly ExpiringRows[];
  /** The host, with defaults for the methods and properties that your application leaves out. */
  readonly host: CompleteHost;
  /**
   * Sends an event to the host, like the server's own events. If `oauth_server:audit:keep` is on,
   * also stores the event. Never rejects. The methods of `audit` read the stored events.
   */
  readonly audit: ServerAudit;
  /** How protected resources describe bound tokens. Null if tokens are not bound to keys. */
  readonly binding: BindingOffer | null;
  /**
   * Receives measurements from the server and everything that is mounted with it. Null if the
   * option `telemetry` is not set.
   */
  readonly measuring: Measuring | null;
  /** Delivers the features' messages to other systems, at least once. */
  readonly outbox: Outbox;
  /** The examinations of features for the doctor's report. */
  readonly examinations: readonly Examination[];
  /** Encrypts data that browsers or clients store on behalf of the server. */
  readonly sealing: Sealing;
  /** Returns the time in milliseconds since 1970. */
  readonly clock: () => number;
}
