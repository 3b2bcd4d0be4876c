import { ConfigurationError, type MigrationState, migrationStatus, pendingSteps } from '@portico/sql';
import { createAccess } from './access/access.ts';
import { createAccounts } from './accounts.ts';
import { createAdmitting } from './admitting.ts';
import { createServerAudit } from './auditing/server-audit.ts';
import { createBrowsers, type Browsers } from './authorization/browsers.ts';
import { createCookieSealer, createSealing } from './authorization/cookie-keys.ts';
import { createAuthorizing } from './authorizing.ts';
import { createBearerTokens } from './tokens/bearer.ts';
import { createClaims } from './tokens/claims.ts';
import { createClientUrls } from './client-documents/client-urls.ts';
import { createRecordUse } from './clients/last-use.ts';
import { admitsUnverified, type OAuthServerConfig } from './config.ts';
import { demandsOfFeatures, startFeatures } from './assembly/start-features.ts';
import type { Feature } from './feature.ts';
import { featuresWith } from './features.ts';
import {
  createJwksEndpoint,
  createMetadataEndpoint,
  createOpenidConfigurationEndpoint,
  createResourceMetadataEndpoint,
} from './endpoints/discovery.ts';
import { createEndpoints, type EndpointsOptions } from './endpoints/endpoint.ts';
import { createBrandingEndpoints } from './endpoints/branding.ts';
import { createFailures } from './replies/failures.ts';
import { createHealthEndpoints } from './endpoints/health.ts';
import { createIntrospectEndpoint } from './endpoints/introspect.ts';
import { browserPaths, TOKEN_PATH } from './paths.ts';
import { createProtectedRoutes } from './endpoints/protected-routes.ts';
import { createRevokeEndpoint } from './endpoints/revoke.ts';
import { csrfExemptRoutes } from './endpoints/table.ts';
import { createTokenEndpoint } from './endpoints/token.ts';
import { createUserinfoEndpoint } from './endpoints/userinfo.ts';
import type { Branding } from './defaults/branding/branding.ts';
import { basePathProblems, strippedProblems } from './http/base-path.ts';
import { systemRandom } from './http/failed-attempts.ts';
import { isLoopback } from './http/loopback.ts';
import { healthChecks } from './health/checks.ts';
import { createHealth } from './health/health.ts';
import { healthPaths } from './health/paths.ts';
import { completeHost } from './complete-host.ts';
import { branded, brandingWithoutKit } from './host-branding.ts';
import { OWN_DEFAULTS } from './host-defaults.ts';
import { callerAddress, type CompleteHost } from './host.ts';
import { createGrants } from './grants/grant-types.ts';
import { createIssuing } from './grants/issuing.ts';
import { createLostAnswers } from './grants/lost-answers.ts';
import { createKeyRing } from './keys/key-ring.ts';
import { signingKeysOf } from './keys/signers.ts';
import { createFetchJson } from './outbound/fetch-json.ts';
import { createMeasuring } from './measuring/measuring.ts';
import { measuredStore } from './measuring/measured-store.ts';
import { observedServer } from './measuring/observed-server.ts';
import { createProtectedResource } from './protected-resource.ts';
import { createProfiles, profileProblems, withProfile } from './profiles/profiles.ts';
import type { Server } from './server.ts';
import { oauthServerMigrations } from './store/migrations/index.ts';
import { Pruning } from './store/pruning.ts';
import { SingleUses } from './store/single-uses.ts';
import { Speaking } from './words/speaking.ts';
import { createScopeCatalog, scopesHeldBy, speakingOf } from './tokens/scopes.ts';
import { Store } from './store/store.ts';
import { createTokenLookUp } from './tokens/token-accessor.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import type { AuthorizationServerOptions } from './authorization-server-options.ts';
import type { ExaminedApplication } from './console/subject.ts';

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
  /** Every step of the application's schema; the server's own steps unless given. */
  readonly migrations?: () => Promise<readonly MigrationState[]>;
  /** In which languages the host's pages are; made of the configuration and `messages` unless given. */
  readonly speaking?: Speaking;
  /** How the pages look; null for nothing of its own, and as the configuration says unless given. */
  readonly branding?: Branding | null;
  /** What an administrator's page of the doctor looks at; the store alone unless given. */
  readonly examined?: ExaminedApplication;
}

/** Puts the server together. */
export function assembleServer(options: ServerParts): AuthorizationServer {
  const { publicUrl, database, clock = Date.now, random = systemRandom } = options;
  const { basePath = '', basePathStripped = false, showsDetails = false, outbound = {}, telemetry } = options;
  const features = featuresWith(options.features);
  requireNoProblems(options.config, features, basePath, basePathStripped);
  const config = withProfile(options.config);
  const profiles = createProfiles(config);
  const { name: serverName, key_path: keyPath } = config;
  const { origin } = new URL(publicUrl);
  const issuer = `${origin}${basePath}`;
  const mounting = { basePath, mountPath: basePathStripped ? '' : basePath };
  const paths = browserPaths(mounting);
  const audience = config.audience === '' ? null : config.audience;

  const documentsConfig = config.client_id_metadata_documents ?? false;
  const urls = createClientUrls(documentsConfig);
  const isUnavailable = (error: unknown) => database.isUnavailable(error);
  const measuring =
    telemetry === undefined
      ? null
      : createMeasuring({
          telemetry,
          isUnavailable,
          log: () => host.log,
          errorCodes: features.flatMap(({ errorCodes = [] }) => errorCodes),
        });
  const sqlStore = new Store(database, (clientId) => urls.refusal(clientId) === null);
  const store = measuring === null ? sqlStore : measuredStore(sqlStore, measuring, database.dialect);
  const sealer = createCookieSealer({ store: store.cookieKeys, clock, lifetime: config.consent_ttl * 1000 });
  const branding = options.branding === undefined ? brandingWithoutKit(config, basePath) : options.branding;
  const host = branded(options.host(createBrowsers({ sealer, issuer, basePath })), branding);
  const { log } = host;
  const registers = (config.registration ?? 'off') !== 'off';
  const { private_key_jwt: takesKeys = false } = config;
  const { audit, runFrom, removeOld } = createServerAudit({
    keeps: config.audit?.keep === true,
    stream: config.audit?.stream ?? null,
    retentionDays: config.audit?.retention_days ?? null,
    table: async () => new (await import('./store/sql/audit.ts')).AuditRecords(database),
    host,
    addressOf: (request) => callerAddress(host, request),
    clock,
  });
  const pruning = new Pruning({
    store: store.expired,
    removeOldEvents: removeOld,
    registrations: registers || documentsConfig !== false,
    singleUses: () => takesKeys || contributions.usesOnce,
    clock,
    log,
  });
  const keys = createKeyRing({
    directory: keyPath,
    signers: signingKeysOf(options.keySigners ?? []),
    clock,
    idTokenLifetime: config.id_token_ttl,
    audit,
    log,
    isNeeded: () =>
      store.authorizations.hasOpenidFamily().catch((error: unknown) => {
        if (database.isUnavailable(error)) throw error;
        // Without a schema there is no authorization.
        return false;
      }),
  });

  const scopes = createScopeCatalog(config.scopes);
  const speaking =
    options.speaking ?? new Speaking({ ...speakingOf(config), folder: options.messages ?? null });
  const claims = createClaims({ mapper: config.claims, catalog: scopes, log });
  const singleUses = new SingleUses(store.singleUses, pruning);
  const accounts = createAccounts(host);
  const allowsLoopback = showsDetails && isLoopback(new URL(publicUrl));
  const fetching = { ...outbound, allowsLoopback, anyPort: allowsLoopback, clock };
  const demands = demandsOfFeatures(features, config);
  const context: Server = {
    issuer,
    origin,
    ...mounting,
    config,
    host,
    database,
    store,
    clock,
    random,
    audience,
    scopes,
    accounts,
    keys,
    demands,
    profiles,
    audit,
    pruning,
    singleUses,
    sealer,
    fetching,
    paths,
    branding,
    speaking,
    measuring,
  };
  const contributions = startFeatures(features, context);
  const { binding } = contributions;
  const offer = binding?.offer ?? null;
  const resource = createProtectedResource({ issuer, config, binding: offer });
  const bearerTokens = createBearerTokens({
    store: store.accessTokens,
    accounts,
    host,
    scopes,
    audience,
    binding,
    clock,
  });
  const lookUp = createTokenLookUp({ bearerTokens, scopes });
  const admitting = createAdmitting({
    issuer,
    config,
    store,
    singleUses,
    host,
    scopes,
    keys,
    profiles,
    urls,
    logos: contributions.logos,
    fetching,
    demands,
    audit,
    pruning,
    clock,
    random,
  });
  const { clients, authenticating } = admitting;
  const recordUse = createRecordUse({ store: store.clients, clock, log });
  const authenticateClient = authenticating((id) => clients.find(id), TOKEN_PATH);

  const issuing = createIssuing({
    issuer,
    config,
    scopes,
    host,
    keys,
    claims,
    checks: contributions.issuanceChecks,
    binding,
  });
  const lostAnswers = createLostAnswers(clock);
  const grants = createGrants({
    store,
    accounts,
    issuing,
    scopes,
    admitsUnverified: admitsUnverified(config),
    audience,
    resource,
    audit,
    clock,
    lostAnswers,
    secondUses: contributions.secondUses,
    profiles,
    binding,
    measuring,
  });

  const authorizing = createAuthorizing({
    issuer,
    basePath,
    config,
    paths,
    audience,
    store,
    sealer,
    host,
    accounts,
    scopes,
    keys,
    clients,
    profiles,
    urls,
    fetchJson: createFetchJson(fetching),
    anyPort: fetching.anyPort,
    contributions,
    binding,
    demands,
    resource,
    speaking,
    audit,
    recordUse,
    pruning,
    clock,
  });
  const metadata = {
    issuer,
    locales: speaking.locales,
    scopes,
    clientDocuments: documentsConfig !== false,
    registers,
    takesKeys,
    members: contributions.metadata,
    isProfiled: profiles.isServers,
  };
  const handlers: EndpointsOptions['handlers'] = {
    oauth_server_authorize: authorizing.authorize,
    oauth_server_consent: authorizing.consent,
    oauth_server_token: createTokenEndpoint({
      authenticateClient,
      grants,
      binding,
      url: `${issuer}${TOKEN_PATH}`,
      lostAnswers,
      recordUse,
      pruning,
    }),
    oauth_server_revoke: createRevokeEndpoint({ authenticateClient, store, audit, clock }),
    oauth_server_introspect: createIntrospectEndpoint({
      authenticateClient,
      bearerTokens,
      binding,
      issuer,
    }),
    oauth_server_userinfo: createUserinfoEndpoint({ bearerTokens, claims, binding: offer }),
    oauth_server_openid_configuration: createOpenidConfigurationEndpoint({
      ...metadata,
      keys,
      host,
      clock,
    }),
    oauth_server_metadata: createMetadataEndpoint({ ...metadata, keys }),
    oauth_server_jwks: createJwksEndpoint({ keys }),
    oauth_server_register: admitting.register,
  };
  const migrations = options.migrations ?? (() => migrationStatus(database, oauthServerMigrations));
  const failures = createFailures({
    host,
    database,
    pendingSteps: async () => pendingSteps(await migrations()),
    serverName,
    speaking,
    showsDetails,
  });
  const { metadataUrl } = resource;
  const health = createHealth({
    checks: healthChecks({
      database,
      keys,
      needsKey: () => store.clients.hasOpenidClient(),
      migrations,
    }),
    clock,
    log,
  });
  measuring?.observe(observedServer({ database, keys, clock }));
  const server: AuthorizationServer = {
    issuer,
    origin,
    ...mounting,
    config,
    host,
    csrfExemptRoutes: csrfExemptRoutes(features),
    clients,
    demands,
    clientKeyProblems: admitting.clientKeyProblems,
    access: createAccess({ store, audit, clock }),
    importing: admitting.importing,
    initialAccessTokens: admitting.initialAccessTokens,
    keys,
    audit,
    binding: offer,
    measuring,
    examinations: contributions.examinations,
    sealing: createSealing({ sealer, clock, lifetime: config.consent_ttl * 1000 }),
    clock,
    waitingFor: authorizing.waitingFor,
    offers: (scope) => scopes.has(scope),
    scopesHeldBy: (person, names) => scopesHeldBy(host, scopes, names, person),
    prune: (onBatch) => pruning.all(onBatch),
    serveResource: resource.add,
    health,
    endpoints: [
      ...createEndpoints({
        handlers,
        own: contributions.endpoints({
          clients,
          documents: authorizing.documents,
          checks: authorizing.checks,
          binding,
          authenticating,
          keptOf: authorizing.keptOf,
          logos: contributions.logos,
          server: () => server,
          examined: options.examined ?? null,
        }),
        mounting,
        failures,
        host,
        database,
        binding: offer,
        runFrom,
        measuring,
        resourceMetadata:
          metadataUrl === null
            ? null
            : { path: new URL(metadataUrl).pathname, handler: createResourceMetadataEndpoint(resource) },
      }),
      ...createBrandingEndpoints(branding, mounting),
      // Unless they are asked for, the paths are the application's.
      ...createHealthEndpoints(health, healthPaths(config.health ?? false, mounting)),
    ],
    ...createProtectedRoutes({
      lookUp,
      failures,
      host,
      database,
      metadataUrl,
      binding: offer,
      runFrom,
      measuring,
    }),
  };
  return server;
}

function requireNoProblems(
  config: OAuthServerConfig,
  features: readonly Feature[],
  basePath: string,
  stripped: boolean,
): void {
  const problems = [
    ...basePathProblems(basePath).map((message) => ({ key: 'base_path', message })),
    ...strippedProblems(basePath, stripped).map((message) => ({ key: 'base_path_stripped', message })),
    ...features.flatMap((feature) => feature.problems?.(withProfile(config)) ?? []),
    ...profileProblems(config),
  ];
  if (problems.length > 0) throw new ConfigurationError(problems);
}
