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

/** Members that features add to the server. Extend this interface for your own feature. */
export interface FeatureMembers {
  /**
   * Manages the initial access tokens with which clients register themselves, if
   * `oauth_server:registration` is on.
   */
  readonly initialAccessTokens: InitialAccessTokens;
}

/** The authorization server that runs in your application. */
export interface AuthorizationServer extends ProtectedApi, FeatureMembers {
  /**
   * The issuer (RFC 8414 section 2): the origin of `public_url` and `base_path`, without a trailing
   * slash.
   */
  readonly issuer: string;
  /** The setting `base_path`: empty, or a path such as `/auth`. */
  readonly basePath: string;
  /** The path prefix of incoming requests: `base_path`, or empty if a proxy removes it. */
  readonly mountPath: string;
  /** The validated section `oauth_server`, including default values. */
  readonly config: OAuthServerConfig;
  /** The endpoints to mount. Handlers always return a response and never reject. */
  readonly endpoints: readonly Endpoint[];
  /**
   * Maps the name of each endpoint that your CSRF check must skip to true. Includes endpoints that
   * are turned off.
   */
  readonly csrfExemptRoutes: Readonly<Record<string, boolean>>;
  /** Registers and finds clients. */
  readonly clients: Clients;
  /**
   * The ways in which an application can become a client without an operator. Features add them.
   */
  readonly arrivals: readonly ClientArrival[];
  /** True if an application can become a client without an operator. */
  readonly admitsUnverified: boolean;
  /** True if clients can authenticate with their own keys. */
  readonly takesKeys: boolean;
  /** All grant types that the server offers. */
  readonly grantTypes: GrantTypes;
  /**
   * The demands that clients can be registered with, for example that their tokens are bound to a
   * key.
   */
  readonly demands: readonly ClientDemand[];
  /** The security profiles that the server applies to its clients. */
  readonly profiles: Profiles;
  /** Lists authorizations, and ends access. */
  readonly access: Access;
  /**
   * Returns the current problems with this client's keys. Fetches the keys first if the client
   * publishes them at a URL. Returns an empty list for a client without keys.
   */
  clientKeyProblems(client: Client): Promise<readonly string[]>;
  /** The keys that sign ID tokens, from `key_path` and from key signers. */
  readonly keys: KeyRing;
  /**
   * Returns the authorization request that sent this browser to your sign-in page. `returnTo` is
   * the path to which your page sends the user after the sign-in. Rejects if the host does not have
   * `tellsWhoWaits`.
   *
   * Returns null in these cases:
   *
   * - `returnTo` is not a path of the authorization endpoint with a `request_id`.
   * - The request was sent by another browser, or is older than `consent_ttl`.
   * - Another request has sent this browser to your sign-in page in the meantime.
   * - The sign-in page is on another origin, or the client is unknown.
   */
  waitingFor(request: WithHeaders, returnTo: string | null | undefined): Promise<WaitingFor | null>;
  /**
   * Ends the access of clients after sessions of your application have ended, for example at
   * sign-out. Call this method even while `oauth_server:back_channel_logout` is off. It has no
   * effect then, but you can turn the setting on later.
   *
   * Portico notifies the clients that the person signed in to during an ended session, and ends
   * their access (docs/signing-out.md). This applies only to clients with a
   * `backchannel_logout_uri`. Clients that requested `offline_access` keep their access.
   *
   * Rejects if the database cannot be reached: then call the method again. Also rejects for an
   * invalid session or person.
   *
   * @example
   * await server.sessionEnded({ session: request.session.id });
   * await server.sessionEnded({ person: { provider: 'users', id: '7' } });
   */
  sessionEnded(ended: EndedSessions): Promise<void>;
  /**
   * Like `sessionEnded`, but runs in your own transaction. Your change and the end of the access
   * are stored together or not at all.
   *
   * After the commit, call the returned function. It writes the audit events and notifies clients.
   * Without this call, clients are notified within half a second.
   *
   * @example
   * const committed = await database.transaction(async (connection) => {
   *   await connection.execute('DELETE FROM sessions WHERE id = ?', [id]);
   *   return server.sessionEndedIn(connection, { session: id });
   * });
   * await committed();
   */
  sessionEndedIn(connection: SqlConnection, ended: EndedSessions): Promise<AfterCommit>;
  /** Returns true if this scope is built in, or configured in `oauth_server:scopes`. */
  offers(scope: string): boolean;
  /**
   * Returns the `scopes` for which the person has the permission now. Ignores which of them the
   * person has allowed clients.
   */
  scopesHeldBy(person: PersonReference, scopes: readonly string[]): Promise<readonly string[]>;
  /** Adds settings for the protected API. Call this method before the first request. */
  serveResource(needs: ResourceNeeds): void;
  /** The resources in `oauth_server:resources`, or an empty list. */
  readonly resources: readonly ResourceDescription[];
  /**
   * Returns the API with this URL, which accepts only tokens for this URL. Throws if the URL is
   * neither in `oauth_server:resources` nor the same as `oauth_server:audience`.
   *
   * @example
   * server.resource('https://shop.example/api').withToken(request, answer);
   */
  resource(url: string): ProtectedApi;
  /**
   * Tells the server that your application has mounted it. Each framework's mount calls this
   * method. In development (`APP_ENV=dev`, or the option `showsDetails`), missing migrations then
   * cause a process warning.
   */
  mounted(): void;
  /**
   * Removes expired rows in small batches, even while the server handles requests. Calls `onBatch`
   * after each batch with the totals so far.
   */
  prune(onBatch?: (removed: PrunedRows) => void): Promise<PrunedRows>;
  /** The rows of features that expire. `prune` also removes them. */
  readonly expiring: readonly ExpiringRows[];
  /** The host, including defaults for methods and properties that your application omits. */
  readonly host: CompleteHost;
  /**
   * Passes an event to the host, like the server's own events. With `oauth_server:audit:keep`, also
   * stores it. Never rejects. The methods of `audit` read stored events.
   */
  readonly audit: ServerAudit;
  /** Describes tokens that are bound to a key. Null if the server does not bind tokens. */
  readonly binding: BindingOffer | null;
  /**
   * Receives the measurements of the server and of everything mounted with it. Null without the
   * option `telemetry`.
   */
  readonly measuring: Measuring | null;
  /**
   * Delivers the messages of features to other systems. Each message is delivered at least once.
   */
  readonly outbox: Outbox;
  /** The examinations that features add to the doctor's report. */
  readonly examinations: readonly Examination[];
  /** Encrypts data that browsers or clients store for the server. */
  readonly sealing: Sealing;
  /** Returns the time in milliseconds since 1970. */
  readonly clock: () => number;
}
