import { assembleTokenEndpoint } from './token-endpoint.ts';
import { layFoundation, type Foundation, type ServerParts } from './foundation.ts';
import type { Contributions } from './start-features.ts';
import { requireOwnMembers } from './feature-conflicts.ts';
import { openidProviderMetadata } from '../metadata.ts';
import type { Parts } from '../feature.ts';
import { ProtectedResource } from '../resource/protected-resource.ts';
import { pendingSteps } from '@portico/sql';
import { createAccess } from '../access/access.ts';
import { ClientParts } from './clients.ts';
import { createSealing } from '../authorization/cookie-keys.ts';
import { assembleAuthorization } from './authorization.ts';
import { runFrom } from '../auditing/origin.ts';
import { BearerTokens } from '../resource/bearer.ts';
import { Claims } from '../tokens/claims.ts';
import { LastUse } from '../clients/last-use.ts';
import {
  createJwksEndpoint,
  createMetadataEndpoint,
  createOpenidConfigurationEndpoint,
  createResourceMetadataEndpoint,
} from '../endpoints/discovery.ts';
import { createEndpoints, type EndpointsOptions } from '../endpoints/endpoint.ts';
import { createFailures } from '../replies/failures.ts';
import { IntrospectEndpoint } from '../endpoints/introspect.ts';
import { TOKEN_PATH } from '../paths.ts';
import { createProtectedRoutes } from '../endpoints/protected-routes.ts';
import { RevokeEndpoint } from '../endpoints/revoke.ts';
import { csrfExemptRoutes } from '../endpoints/table.ts';
import { UserinfoEndpoint } from '../endpoints/userinfo.ts';
import { completeHost } from '../complete-host.ts';
import { OWN_DEFAULTS } from '../host-defaults.ts';
import { observedServer } from '../measuring/observed-server.ts';
import type { Server } from '../server.ts';
import { scopesHeldBy } from '../tokens/scopes.ts';
import { tokenLookUp } from '../resource/token-accessor.ts';
import type { AuthorizationServer } from '../authorization-server.ts';
import type { AuthorizationServerOptions } from '../authorization-server-options.ts';

/**
 * Makes an authorization server. Opens nothing and writes nothing. `key_path` must be absolute.
 * Throws a ConfigurationError for invalid settings.
 */
export function createAuthorizationServer<Context = unknown>(
  options: AuthorizationServerOptions<Context>,
): AuthorizationServer {
  const { host } = options;
  return assembleServer({ ...options, host: (browsers) => completeHost(host, OWN_DEFAULTS, browsers) });
}

/** Assembles the server. */
export function assembleServer(options: ServerParts): AuthorizationServer {
  const foundation = layFoundation(options);
  const { server, features, contributions } = foundation;
  const { config, host, database, store, clock, scopes, keys, audit, pruning, measuring } = server;
  const parts = partsOf(foundation);
  const { clientParts, authorization, resource, bearerTokens } = parts;
  const answering = answeringOf(foundation, options.showsDetails ?? false);
  measuring?.observe(observedServer(database, keys, clock));
  const { issuer, origin, basePath, mountPath, arrivals, admitsUnverified, demands, profiles, sealer } =
    server;
  const { clients } = clientParts;
  const shared: Parts = {
    clients,
    clientSource: contributions.clientSource,
    checks: authorization.checks,
    binding: contributions.binding,
    secrets: clientParts.secrets,
    authenticating: (find, ...paths) => clientParts.authenticating(find, ...paths),
    keptOf: authorization.keptOf,
    logos: contributions.logos,
    server: () => assembled,
    examined: options.examined ?? null,
  };
  const assembled: AuthorizationServer = {
    ...contributions.members(shared),
    issuer,
    origin,
    basePath,
    mountPath,
    config,
    host,
    csrfExemptRoutes: csrfExemptRoutes(features),
    clients,
    arrivals,
    takesKeys: server.takesKeys(),
    admitsUnverified,
    grantTypes: contributions.grantTypes,
    demands,
    profiles,
    clientKeyProblems: (client) => clientParts.keyProblems(client),
    access: createAccess({ store, audit, clock }),
    keys,
    audit,
    binding: answering.binding,
    measuring,
    examinations: contributions.examinations(shared),
    sealing: createSealing({ sealer, clock, lifetime: config.consent_ttl * 1000 }),
    clock,
    waitingFor: authorization.waitingFor,
    offers: (scope) => scopes.has(scope),
    scopesHeldBy: (person, names) => scopesHeldBy(host, scopes, names, person),
    prune: (onBatch) => pruning.all(onBatch),
    expiring: contributions.expiring,
    serveResource: (needs) => resource.add(needs),
    resourceMetadataUrl: resource.metadataUrl,
    endpoints: [
      ...createEndpoints({
        ...answering,
        handlers: handlersOf(foundation, parts),
        own: contributions.endpoints(shared),
        mounting: server,
        resourceMetadata: resourceMetadataOf(resource),
      }),
      ...contributions.plainEndpoints,
    ],
    ...createProtectedRoutes({
      ...answering,
      lookUp: tokenLookUp(bearerTokens, scopes),
      metadataUrl: resource.metadataUrl,
    }),
  };
  return assembled;
}

/** What all endpoints use for their answers. */
function answeringOf({ server, contributions }: Foundation, showsDetails: boolean) {
  const { config, host, database, speaking, measuring, migrations, audit } = server;
  const failures = createFailures({
    host,
    database,
    pendingSteps: async () => pendingSteps(await migrations()),
    serverName: config.name,
    speaking,
    showsDetails,
  });
  const binding = contributions.binding?.offer ?? null;
  return { failures, host, database, binding, measuring, runFrom: audit.record === null ? null : runFrom };
}

/** The parts that endpoints are made of. */
function partsOf({ server, contributions }: Foundation) {
  const { config, host, scopes } = server;
  const resource = new ProtectedResource(server, contributions);
  const bearerTokens = new BearerTokens(server, contributions.binding);
  const claims = new Claims(config.claims, scopes, host.log);
  const lastUse = new LastUse(server);
  const clientParts = new ClientParts(server, contributions);
  const { clients } = clientParts;
  const authorization = assembleAuthorization(server, { clients, contributions, resource, lastUse });
  return { resource, bearerTokens, claims, lastUse, clientParts, authorization };
}

/** The endpoints of every server. */
function handlersOf(
  { server, contributions }: Foundation,
  parts: ReturnType<typeof partsOf>,
): EndpointsOptions['handlers'] {
  const { resource, bearerTokens, claims, lastUse, clientParts, authorization } = parts;
  const { binding } = contributions;
  const authentication = clientParts.authenticating((id) => clientParts.clients.find(id), TOKEN_PATH);
  const issued = { contributions, resource, claims, authentication, lastUse };
  return {
    oauth_server_authorize: authorization.authorize,
    oauth_server_consent: authorization.consent,
    oauth_server_token: assembleTokenEndpoint(server, issued).answer,
    oauth_server_revoke: new RevokeEndpoint(server, authentication).answer,
    oauth_server_introspect: new IntrospectEndpoint(server.issuer, authentication, bearerTokens, binding)
      .answer,
    oauth_server_userinfo: new UserinfoEndpoint(bearerTokens, claims, binding?.offer ?? null).answer,
    ...metadataHandlers(server, contributions),
  };
}

/** The documents that describe the server. */
function metadataHandlers(server: Server, { metadata: members, responseModes }: Contributions) {
  const { issuer, host, scopes, keys, clock, speaking, profiles } = server;
  const core = {
    issuer,
    locales: speaking.locales,
    scopes,
    algorithms: keys.algorithms.names,
    admitsUnverified: server.admitsUnverified,
    takesKeys: server.takesKeys(),
    grantTypes: server.grantTypes(),
    profile: profiles.servers,
    responseModes: responseModes.names,
  };
  requireOwnMembers(members, openidProviderMetadata(core, []));
  const metadata = { ...core, members };
  return {
    oauth_server_openid_configuration: createOpenidConfigurationEndpoint({ ...metadata, keys, host, clock }),
    oauth_server_metadata: createMetadataEndpoint({ ...metadata, keys }),
    oauth_server_jwks: createJwksEndpoint({ keys }),
  };
}

/** Null unless challenges name it. */
function resourceMetadataOf(resource: ProtectedResource): EndpointsOptions['resourceMetadata'] {
  const { metadataUrl } = resource;
  if (metadataUrl === null) return null;
  return { path: new URL(metadataUrl).pathname, handler: createResourceMetadataEndpoint(resource) };
}
