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
import type { CompleteHost } from './host.ts';
import type { Measuring } from './measuring.ts';
import type { KeyRing } from './keys/key-ring.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { AfterCommit, EndedSessions } from './session-ends.ts';
import type { Profiles } from './profiles.ts';
import type { ResourceNeeds } from './resource/protected-resource.ts';
import type { Client } from './store/client.ts';
import type { ResourceDescription } from './tokens/resource-indicators.ts';
import type { ExpiringRows, PrunedRows } from './store/pruning.ts';

/** Properties that features add to the server. Each feature declares its own properties here. */
export interface FeatureMembers {
  /**
   * The initial access tokens with which clients register themselves, if
   * `oauth_server:registration` is on.
   */
  readonly initialAccessTokens: InitialAccessTokens;
}

/** The authorization server in your application. */
export interface AuthorizationServer extends ProtectedApi, FeatureMembers {
  /**
   * The issuer (RFC 8414 section 2): the origin of `public_url` without a slash at the end,
   * followed by `base_path`.
   */
  readonly issuer: string;
  /** `base_path`: empty, or a path such as `/auth`. */
  readonly basePath: string;
  /** The path prefix of incoming requests. This is `base_path`, or empty if a proxy removes it. */
  readonly mountPath: string;
  /** The validated section `oauth_server`, with defaults. */
  readonly config: OAuthServerConfig;
  /**
   * The endpoints. Mount each of them with its path and methods. A handler always returns a
   * response, and never rejects.
   */
  readonly endpoints: readonly Endpoint[];
  /**
   * The names of the endpoints that your application's CSRF check must exempt. Each has the value
   * true. Includes endpoints that are turned off.
   */
  readonly csrfExemptRoutes: Readonly<Record<string, boolean>>;
  /** The registered clients. */
  readonly clients: Clients;
  /**
   * The ways in which applications can become clients without an operator. Features provide them.
   */
  readonly arrivals: readonly ClientArrival[];
  /** Whether applications can become clients without an operator. */
  readonly admitsUnverified: boolean;
  /** Whether clients can authenticate with their own keys. */
  readonly takesKeys: boolean;
  /** The grant types that the server offers. */
  readonly grantTypes: GrantTypes;
  /** The demands that a client can be registered with, such as bound tokens. */
  readonly demands: readonly ClientDemand[];
  /** The security profiles that the server applies to clients. */
  readonly profiles: Profiles;
  /** Lists authorizations and ends access. */
  readonly access: Access;
  /**
   * Returns the current problems of the keys that this client authenticates with. Fetches the keys
   * if the client publishes them. Returns an empty list for a client without keys.
   */
  clientKeyProblems(client: Client): Promise<readonly string[]>;
  /** The signing keys from `key_path` and from key signers. */
  readonly keys: KeyRing;
  /**
   * Returns the authorization request that sent this browser to your sign-in page. `returnTo` is
   * where your page sends people next. Throws unless the host has `tellsWhoWaits`.
   *
   * Returns null in these cases:
   *
   * - `returnTo` does not lead to the authorization endpoint.
   * - The request belongs to another browser, or is older than `consent_ttl`.
   * - Another request has sent this browser to sign-in since then.
   */
  waitingFor(request: WithHeaders, returnTo: string | null | undefined): Promise<WaitingFor | null>;
  /**
   * Ends access after sessions of your application have ended, for example at a sign-out. Call it
   * even if `oauth_server:back_channel_logout` is off.
   *
   * Clients in which the person signed in with such a session are notified and lose access
   * (docs/signing-out.md). Rejects if the store cannot be reached. In that case, call it again.
   * Throws if the session or the person is not a valid text.
   *
   * @example
   * await server.sessionEnded({ session: request.session.id });
   * await server.sessionEnded({ person: { provider: 'users', id: '7' } });
   */
  sessionEnded(ended: EndedSessions): Promise<void>;
  /**
   * Like `sessionEnded`, but in your own transaction, so that both changes are stored or neither
   * is. Returns a function. Call it after the commit. It writes the audit events, and clients are
   * notified immediately instead of within half a second.
   *
   * @example
   * const committed = await database.transaction(async (connection) => {
   *   await connection.execute('DELETE FROM sessions WHERE id = ?', [id]);
   *   return server.sessionEndedIn(connection, { session: id });
   * });
   * await committed();
   */
  sessionEndedIn(connection: SqlConnection, ended: EndedSessions): Promise<AfterCommit>;
  /** Whether a scope with this name is built in or configured. */
  offers(scope: string): boolean;
  /**
   * Returns those of the scopes for which the person has the permission now. Does not check what
   * the person has allowed clients.
   */
  scopesHeldBy(person: PersonReference, scopes: readonly string[]): Promise<readonly string[]>;
  /**
   * Adds what the protected API needs besides tokens. Call it before the server handles requests.
   */
  serveResource(needs: ResourceNeeds): void;
  /** The resources in `oauth_server:resources`. Empty if there are none. */
  readonly resources: readonly ResourceDescription[];
  /**
   * Returns the API with this URL, which is one of `oauth_server:resources` or
   * `oauth_server:audience`. It accepts only tokens for this URL. Throws for any other URL.
   *
   * @example
   * server.resource('https://shop.example/api').withToken(request, answer);
   */
  resource(url: string): ProtectedApi;
  /**
   * Records that an application mounts the server. The mounts call it. Under `APP_ENV=dev`, the
   * server prints a warning on standard error if migrations are missing.
   */
  mounted(): void;
  /**
   * Removes expired rows in small batches. You can call it while the server handles requests. After
   * each batch, it calls `onBatch` with the totals so far.
   */
  prune(onBatch?: (removed: PrunedRows) => void): Promise<PrunedRows>;
  /** The rows of features that expire. `prune` also removes these rows. */
  readonly expiring: readonly ExpiringRows[];
  /** The host, with defaults for the methods and properties that your application has left out. */
  readonly host: CompleteHost;
  /**
   * Passes an event to the host, like the server's own events. If storing is on, also stores the
   * event. Never rejects. Use the methods of `audit` to read the stored events.
   */
  readonly audit: ServerAudit;
  /** How protected resources describe bound tokens. Null if tokens are not bound to keys. */
  readonly binding: BindingOffer | null;
  /**
   * Receives measurements from the server and from everything that is mounted with it. Null if
   * there is no option `telemetry`.
   */
  readonly measuring: Measuring | null;
  /** Delivers the messages of features to other systems, at least once. */
  readonly outbox: Outbox;
  /** The parts of the doctor's report that are about features. */
  readonly examinations: readonly Examination[];
  /** Encrypts texts that browsers or clients store for the server. */
  readonly sealing: Sealing;
  /** Returns the time in milliseconds since 1970. */
  readonly clock: () => number;
}
