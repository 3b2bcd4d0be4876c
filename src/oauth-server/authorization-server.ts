import type { Database } from '../sql/contract.ts';
import { createAccounts } from './accounts.ts';
import { createAudit } from './audit.ts';
import { createCookieSealer } from './authorization/cookie-keys.ts';
import { createClaims } from './claims.ts';
import { createClients, type Clients } from './clients/clients.ts';
import { createClientAuthentication } from './clients/authentication.ts';
import { createClientSecrets } from './clients/secrets.ts';
import type { OAuthServerConfig } from './config.ts';
import { applicationsEndpoint, removeApplicationEndpoint } from './endpoints/applications.ts';
import { authorizeEndpoint, consentEndpoint } from './endpoints/authorize.ts';
import {
  authorizationServerEndpoint,
  jwksEndpoint,
  openidConfigurationEndpoint,
} from './endpoints/discovery.ts';
import { createEndpoints, type Endpoint } from './endpoints/endpoint.ts';
import { createFailures } from './endpoints/failures.ts';
import { introspectEndpoint } from './endpoints/introspect.ts';
import { revokeEndpoint } from './endpoints/revoke.ts';
import { tokenEndpoint } from './endpoints/token.ts';
import { userinfoEndpoint } from './endpoints/userinfo.ts';
import { BearerError } from './errors.ts';
import { createFailedAttempts, systemRandom } from '../http/failed-attempts.ts';
import { requestIdOf } from '../http/request-id.ts';
import type { Host } from './host.ts';
import { createKeyRing, type KeyRing } from './keys.ts';
import { createPruning } from './pruning.ts';
import { logRefusal } from './refusals.ts';
import { bearerErrorResponse, responseOf } from './responses.ts';
import { createScopeCatalog } from './scopes.ts';
import type { ServerContext } from './server-context.ts';
import { createSqlStore } from './store/sql.ts';
import type { PrunedRows } from './store/store.ts';
import { runWithAccessor, settleToken, type Refuse } from './token-accessor.ts';

/** The authorization server inside a host application. */
export interface AuthorizationServer {
  /** The issuer (RFC 8414 section 2): the origin of `public_url`, without a slash. */
  readonly issuer: string;
  /** The section `oauth_server`, validated and with its defaults. */
  readonly config: OAuthServerConfig;
  /** To be mounted by path and method; each answers by itself and never rejects. */
  readonly endpoints: readonly Endpoint[];
  /** The registered applications. */
  readonly clients: Clients;
  /** The signing keys of `key_path`. */
  readonly keys: KeyRing;
  /** Whether a scope of this name is built in or configured. */
  offers(scope: string): boolean;
  /** Removes expired rows, in small batches; safe while serving. */
  prune(): Promise<PrunedRows>;
  /** What the server knows of the application it runs in. */
  readonly host: Host;
  /**
   * Looks up the token of a request's `Authorization` header, for a framework whose handlers are not `Request => Response`:
   * `run` gives what it runs, and everything awaited in it, `token()`. When the look-up itself fails, the answer to send in
   * its place. The request, made when it is asked for, says in the log which one was refused, and where it came from.
   */
  settleToken(
    authorization: string | null,
    request?: () => Request,
  ): Promise<{ readonly run: <T>(work: () => T) => T } | { readonly failure: Response }>;
  /** Runs a handler of the host with `token()` at hand, and answers what `token()` refuses with 401 or 403. */
  withToken(request: Request, next: () => Promise<Response>): Promise<Response>;
}

/** What a server is made of. */
export interface AuthorizationServerOptions {
  /** The public origin of the application, `public_url`; it is the issuer. */
  readonly publicUrl: string;
  /** The section `oauth_server`, as `oauthServerConfiguration` validates it. */
  readonly config: OAuthServerConfig;
  /** The application that the server asks about people and browsers. */
  readonly host: Host;
  /** Where the server keeps what it issues; its schema is `oauthServerMigrations`. */
  readonly database: Database;
  /** Milliseconds since 1970; the system's clock unless a test says otherwise. */
  readonly clock?: () => number;
  /** Whether the error page says what only the log should, for whoever writes an application; false unless given. */
  readonly showsDetails?: boolean;
  /**
   * A number from 0 up to, and not including, 1, by which it is drawn which attempts go ahead while somebody guesses client
   * secrets; the system's random source unless a test says otherwise.
   */
  readonly random?: () => number;
}

/** Makes a server; opens nothing and writes nothing. `key_path` must be absolute. */
export function createAuthorizationServer(options: AuthorizationServerOptions): AuthorizationServer {
  const { publicUrl, config, host, database, clock = Date.now, random = systemRandom } = options;
  const { showsDetails = false } = options;
  const store = createSqlStore(database);
  const scopes = createScopeCatalog(config.scopes);
  const { passwordHasher } = host;
  const audit = createAudit(host);
  const clients = createClients({ store, scopes, passwordHasher, clock, audit });
  const authenticateClient = createClientAuthentication({
    clients,
    secrets: createClientSecrets({ passwordHasher, clock }),
    failedAttempts: createFailedAttempts({ clock, random }),
    host,
    audit,
    clock,
  });
  const context: ServerContext = {
    issuer: new URL(publicUrl).origin,
    config,
    host,
    accounts: createAccounts(host),
    store,
    scopes,
    clock,
    clients,
    authenticateClient,
    audit,
    claims: createClaims({ mapper: config.claims, offered: [...scopes.keys()], log: host.log }),
    keys: createKeyRing({
      directory: config.key_path,
      clock,
      idTokenLifetime: config.id_token_ttl,
      log: host.log,
    }),
    pruning: createPruning({ store, clock, log: host.log }),
    cookieSealer: createCookieSealer({ store, clock, lifetime: config.consent_ttl * 1000 }),
    audience: config.audience === '' ? null : config.audience,
  };
  const failures = createFailures({ host, database, serverName: config.name, showsDetails });
  const settle: AuthorizationServer['settleToken'] = async (authorization, asked) => {
    try {
      const refuse = refusing(host, asked);
      const accessor = await database.readTogether(() => settleToken(context, authorization, refuse));
      return { run: (work) => runWithAccessor(accessor, work) };
    } catch (error) {
      const requestId = asked === undefined ? null : requestIdOf(asked());
      const reply = await failures.reply(error, { endpoint: 'token()', requestId, asPage: false });
      return { failure: responseOf(reply, requestId) };
    }
  };
  return {
    issuer: context.issuer,
    config,
    host,
    settleToken: settle,
    clients: context.clients,
    keys: context.keys,
    offers: (scope) => scopes.has(scope),
    prune: () => context.pruning.all(),
    endpoints: createEndpoints({
      host,
      database,
      failures,
      handlers: {
        oauth_server_authorize: (request) => authorizeEndpoint(context, request),
        oauth_server_consent: (request) => consentEndpoint(context, request),
        oauth_server_token: (request) => tokenEndpoint(context, request),
        oauth_server_revoke: (request) => revokeEndpoint(context, request),
        oauth_server_introspect: (request) => introspectEndpoint(context, request),
        oauth_server_userinfo: (request) => userinfoEndpoint(context, request),
        oauth_server_applications: (request) => applicationsEndpoint(context, request),
        oauth_server_remove_application: (request) => removeApplicationEndpoint(context, request),
        oauth_server_openid_configuration: (request) => openidConfigurationEndpoint(context, request),
        oauth_server_metadata: (request) => authorizationServerEndpoint(context, request),
        oauth_server_jwks: (request) => jwksEndpoint(context, request),
      },
    }),
    async withToken(request, next) {
      const settled = await settle(request.headers.get('authorization'), () => request);
      if ('failure' in settled) return settled.failure;
      try {
        return await settled.run(next);
      } catch (error) {
        if (error instanceof BearerError) return bearerErrorResponse(error);
        throw error;
      }
    },
  };
}

/** Refuses one request of the host's own routes: told once, however often the handler asks. */
function refusing(host: Host, asked: (() => Request) | undefined): Refuse {
  let isTold = false;
  return (refusal, clientId) => {
    const request = asked?.() ?? null;
    const requestId = request === null ? null : requestIdOf(request);
    const { code, scope, detail } = refusal;
    const error = new BearerError(code, scope, { detail: detail ?? refusal.message, requestId });
    if (!isTold) logRefusal(host, { endpoint: 'token()', request, error, clientId });
    isTold = true;
    throw error;
  };
}
