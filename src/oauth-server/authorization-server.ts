import type { Database } from '../sql/contract.ts';
import { createAccounts } from './accounts.ts';
import { createAudit } from './audit.ts';
import { createBrowsers, type Browsers } from './authorization/browsers.ts';
import { createConsent } from './authorization/consent.ts';
import { createCookieSealer } from './authorization/cookie-keys.ts';
import { createRequestChecks } from './authorization/request.ts';
import { createWaitingRequests } from './authorization/waiting.ts';
import { createBearerTokens } from './tokens/bearer.ts';
import { createClaims } from './tokens/claims.ts';
import { createClients, type Clients } from './clients/clients.ts';
import { createClientAuthentication } from './clients/authentication.ts';
import { createClientSecrets } from './clients/secrets.ts';
import type { OAuthServerConfig } from './config.ts';
import { createApplicationsEndpoints } from './endpoints/applications.ts';
import { createAuthorizeEndpoints } from './endpoints/authorize.ts';
import {
  createJwksEndpoint,
  createMetadataEndpoint,
  createOpenidConfigurationEndpoint,
} from './endpoints/discovery.ts';
import { createEndpoints, type Endpoint, type EndpointsOptions } from './endpoints/endpoint.ts';
import { createFailures } from './replies/failures.ts';
import { createIntrospectEndpoint } from './endpoints/introspect.ts';
import { browserPaths } from './endpoints/paths.ts';
import { createProtectedRoutes, type ProtectedRoutes } from './endpoints/protected-routes.ts';
import { createRevokeEndpoint } from './endpoints/revoke.ts';
import { createTokenEndpoint } from './endpoints/token.ts';
import { createUserinfoEndpoint } from './endpoints/userinfo.ts';
import { ConfigurationError } from '../contracts/errors.ts';
import { basePathProblems, strippedProblems } from '../http/base-path.ts';
import { createFailedAttempts, systemRandom } from '../http/failed-attempts.ts';
import { completeHost } from './complete-host.ts';
import { OWN_DEFAULTS } from './host-defaults.ts';
import type { CompleteHost, Host } from './host.ts';
import { createGrants } from './grants/grant-types.ts';
import { createIssuing } from './grants/issuing.ts';
import { createUnanswered } from './grants/unanswered.ts';
import { createKeyRing, type KeyRing } from './keys.ts';
import { createPruning } from './store/pruning.ts';
import { createScopeCatalog } from './tokens/scopes.ts';
import { createSqlStore } from './store/sql/index.ts';
import type { PrunedRows } from './store/store.ts';
import { createTokenLookUp } from './tokens/token-accessor.ts';

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
  /** The registered applications. */
  readonly clients: Clients;
  /** The signing keys of `key_path`. */
  readonly keys: KeyRing;
  /** Whether a scope of this name is built in or configured. */
  offers(scope: string): boolean;
  /** Removes expired rows, in small batches; safe while serving. */
  prune(): Promise<PrunedRows>;
  /** What the server knows of the application it runs in. */
  readonly host: CompleteHost;
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
  /** Where the server keeps what it issues; its schema is `oauthServerMigrations`. */
  readonly database: Database;
  /** Milliseconds since 1970; the system's clock unless a test says otherwise. */
  readonly clock?: () => number;
  /** Whether the error page shows details that are meant for the log, for development; false unless given. */
  readonly showsDetails?: boolean;
  /**
   * Returns a number from 0 up to, and not including, 1. It decides which attempts go ahead while somebody guesses client
   * secrets; the system's random source unless a test says otherwise.
   */
  readonly random?: () => number;
}

/**
 * Makes a server; opens nothing and writes nothing. `key_path` must be absolute. Throws a ConfigurationError for a base path that
 * is none.
 */
export function createAuthorizationServer<Context = unknown>(
  options: AuthorizationServerOptions<Context>,
): AuthorizationServer {
  const { host } = options;
  return assembleServer({ ...options, host: (browsers) => completeHost(host, OWN_DEFAULTS, browsers) });
}

/** What a server is made of, with what completes its host. */
export interface ServerParts extends Omit<AuthorizationServerOptions, 'host'> {
  readonly host: (browsers: Browsers) => CompleteHost;
}

/** Puts the server together. */
export function assembleServer(options: ServerParts): AuthorizationServer {
  const { publicUrl, config, database, clock = Date.now, random = systemRandom } = options;
  const { basePath = '', basePathStripped = false, showsDetails = false } = options;
  requireBasePath(basePath, basePathStripped);
  const { name: serverName, key_path: keyPath } = config;
  const { origin } = new URL(publicUrl);
  const issuer = `${origin}${basePath}`;
  const mounting = { basePath, mountPath: basePathStripped ? '' : basePath };
  const paths = browserPaths(mounting);
  const audience = config.audience === '' ? null : config.audience;

  const store = createSqlStore(database);
  const sealer = createCookieSealer({ store, clock, lifetime: config.consent_ttl * 1000 });
  const host = options.host(createBrowsers({ sealer, issuer, basePath }));
  const { passwordHasher, log } = host;
  const pruning = createPruning({ store, clock, log });
  const keys = createKeyRing({ directory: keyPath, clock, idTokenLifetime: config.id_token_ttl, log });
  const audit = createAudit(host);

  const scopes = createScopeCatalog(config.scopes);
  const claims = createClaims({ mapper: config.claims, offered: [...scopes.keys()], log });
  const accounts = createAccounts(host);
  const bearerTokens = createBearerTokens({ store, accounts, host, scopes, audience, clock });
  const lookUp = createTokenLookUp({ bearerTokens, scopes });

  const clients = createClients({ store, scopes, keys, passwordHasher, clock, audit });
  const secrets = createClientSecrets({ passwordHasher, clock });
  const failedAttempts = createFailedAttempts({ clock, random });
  const authenticateClient = createClientAuthentication({
    clients,
    secrets,
    failedAttempts,
    host,
    audit,
    clock,
  });

  const issuing = createIssuing({ issuer, config, scopes, host, keys, claims });
  const unanswered = createUnanswered(clock);
  const grants = createGrants({ store, accounts, issuing, scopes, audience, audit, clock, unanswered });

  const checkRequest = createRequestChecks({ clients, scopes, keys, audience, serverName, keyPath });
  const waiting = createWaitingRequests({
    store,
    sealer,
    host,
    pruning,
    clock,
    lifetime: config.consent_ttl,
    path: paths.authorize,
    issuer,
  });
  const consent = createConsent({
    store,
    clients,
    host,
    scopes,
    audit,
    pruning,
    clock,
    lifetimes: config,
    applicationsPath: paths.applications,
  });

  const authorize = createAuthorizeEndpoints({
    checkRequest,
    consent,
    waiting,
    accounts,
    host,
    scopes,
    issuer,
    paths,
    serverName,
  });
  const applications = createApplicationsEndpoints({
    store,
    accounts,
    host,
    scopes,
    audit,
    clock,
    issuer,
    paths,
    serverName,
  });
  const handlers: EndpointsOptions['handlers'] = {
    oauth_server_authorize: authorize.authorize,
    oauth_server_consent: authorize.consent,
    oauth_server_token: createTokenEndpoint({ authenticateClient, grants, unanswered, pruning }),
    oauth_server_revoke: createRevokeEndpoint({ authenticateClient, store, audit, clock }),
    oauth_server_introspect: createIntrospectEndpoint({ authenticateClient, bearerTokens, issuer }),
    oauth_server_userinfo: createUserinfoEndpoint({ bearerTokens, claims }),
    oauth_server_applications: applications.list,
    oauth_server_remove_application: applications.remove,
    oauth_server_openid_configuration: createOpenidConfigurationEndpoint({
      issuer,
      scopes,
      keys,
      host,
      clock,
    }),
    oauth_server_metadata: createMetadataEndpoint({ issuer, scopes }),
    oauth_server_jwks: createJwksEndpoint({ keys }),
  };
  const failures = createFailures({ host, database, serverName, showsDetails });
  return {
    issuer,
    origin,
    ...mounting,
    config,
    host,
    clients,
    keys,
    offers: (scope) => scopes.has(scope),
    prune: () => pruning.all(),
    endpoints: createEndpoints({ handlers, mounting, failures, host, database }),
    ...createProtectedRoutes({ lookUp, failures, host, database }),
  };
}

function requireBasePath(basePath: string, stripped: boolean): void {
  const problems = [
    ...basePathProblems(basePath).map((message) => ({ key: 'base_path', message })),
    ...strippedProblems(basePath, stripped).map((message) => ({ key: 'base_path_stripped', message })),
  ];
  if (problems.length > 0) throw new ConfigurationError(problems);
}
