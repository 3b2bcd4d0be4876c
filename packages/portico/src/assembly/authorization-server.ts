import { TokenEndpoint } from '../endpoints/token.ts';
import { layFoundation, type Foundation, type ServerParts } from './foundation.ts';
import type { Contributions } from './start-features.ts';
import { requireOwnMembers } from './feature-conflicts.ts';
import { openidProviderMetadata } from '../endpoints/metadata.ts';
import type { Parts } from '../feature.ts';
import { ProtectedResources } from '../resource/protected-resource.ts';
import { Access } from '../grants/access.ts';
import type { ClientAuthentication } from '../clients/authentication.ts';
import { ClientParts } from './clients.ts';
import { ProtectedApis } from './protected-apis.ts';
import { migrationsWith } from './migrations.ts';
import { examineTables } from './table-examination.ts';
import { Sealing } from '../authorization/cookie-keys.ts';
import { runFrom } from '../auditing/origin.ts';
import { BearerTokens } from '../resource/bearer.ts';
import { Claims } from '../tokens/claims.ts';
import { LastUse } from '../clients/last-use.ts';
import { AuthorizeEndpoint } from '../endpoints/authorize.ts';
import { Discovery, resourceMetadata } from '../endpoints/discovery.ts';
import {
  AnsweringEndpoint,
  endpointsAt,
  type Answering,
  type Handler,
} from '../endpoints/endpoint.ts';
import { Failures } from '../endpoints/replies/failures.ts';
import { IntrospectEndpoint } from '../endpoints/introspect.ts';
import { TOKEN_PATH } from '../paths.ts';
import { RevokeEndpoint } from '../endpoints/revoke.ts';
import { csrfExemptRoutes, RESOURCE_METADATA, type EndpointName } from '../endpoints/table.ts';
import { UserinfoEndpoint } from '../endpoints/userinfo.ts';
import { completeHost } from './complete-host.ts';
import { OWN_DEFAULTS } from './host-defaults.ts';
import { makeGrants } from '../grants/grant-types.ts';
import { Issuing } from '../grants/issuing.ts';
import { LostAnswers } from '../grants/lost-answers.ts';
import type { Server } from '../server.ts';
import { scopesHeldBy } from '../tokens/scopes.ts';
import type { AuthorizationServer } from '../authorization-server.ts';
import type { AuthorizationServerOptions } from './authorization-server-options.ts';

/**
 * Creates an authorization server. Does not access the database. A relative `key_path` starts at
 * the working directory of the process, so use an absolute one.
 *
 * Throws a ConfigurationError if settings cannot be combined. Throws an Error if `publicUrl` is not
 * a URL or a path in the host is not a path.
 *
 * @example
 * const config = oauthServerConfiguration.parse({ name: 'Shop', scopes, key_path });
 * const server = createAuthorizationServer({ publicUrl, config, host, database });
 */
export function createAuthorizationServer<Context = unknown>(
  options: AuthorizationServerOptions<Context>,
): AuthorizationServer {
  const { host } = options;
  return assembleServer({
    ...options,
    host: (browsers, sessions) => completeHost(host, OWN_DEFAULTS, browsers, sessions),
  });
}

export function assembleServer(options: ServerParts): AuthorizationServer {
  const foundation = layFoundation(options);
  const { server, features, contributions, sessions } = foundation;
  const { host, scopes } = server;
  const parts = buildParts(foundation);
  const { clients: clientParts, authorize, resources } = parts;
  const { clients } = clientParts;
  const failures = new Failures(server, options.showsDetails ?? false);
  const answering: Answering = {
    server,
    failures,
    binding: contributions.binding?.offer ?? null,
    runFrom: server.audit.record === null ? null : runFrom,
  };
  server.measuring?.observe(server.keys, server.clock, server.outbox);
  const shared: Parts = {
    clients,
    clientSource: contributions.clientSource,
    checks: authorize.checks,
    binding: contributions.binding,
    secrets: clientParts.secrets,
    authenticating: (find, ...paths) => clientParts.authenticating(find, ...paths),
    authorizationDetails: async (request) => contributions.interaction?.details(request),
    sid: contributions.sid,
    logos: contributions.logos,
    accessPath: contributions.accessPath,
    server: () => assembled,
    examined: options.examined ?? null,
  };
  const apis = new ProtectedApis(answering, contributions, resources);
  const assembled: AuthorizationServer = {
    ...contributions.members(shared),
    ...apis.main,
    ...publicMembers(server),
    csrfExemptRoutes: csrfExemptRoutes(features),
    clients,
    grantTypes: contributions.grantTypes,
    clientKeyProblems: (client) => clientParts.keyProblems(client),
    access: new Access(
      server,
      contributions.forgetting,
      contributions.revokedAlso,
      contributions.endingRequests,
    ),
    binding: answering.binding,
    examinations: [
      examineTables(migrationsWith(server.config)),
      ...contributions.examinations(shared),
    ],
    sealing: new Sealing(server),
    sessionEnded: (ended) => sessions.ended(ended),
    sessionEndedIn: (connection, ended) => sessions.endedIn(connection, ended),
    waitingFor: (request, returnTo) => authorize.waitingFor(request, returnTo),
    offers: (scope) => scopes.has(scope),
    scopesHeldBy: (person, names) => scopesHeldBy(host, scopes, names, person),
    prune: (onBatch) => server.pruning.all(onBatch),
    expiring: contributions.expiring,
    resource: (url) => apis.find(url),
    mounted: () => void failures.warnOfPendingSteps(),
    endpoints: [
      ...endpointsAt(buildHandlers(foundation, parts), contributions.endpoints(shared), answering),
      ...resourceMetadataEndpoints(resources, answering),
      ...contributions.plainEndpoints,
    ],
  };
  return assembled;
}

/** The public members that do not depend on the endpoints. */
function publicMembers(server: Server) {
  return {
    issuer: server.issuer,
    basePath: server.basePath,
    mountPath: server.mountPath,
    config: server.config,
    host: server.host,
    arrivals: server.arrivals,
    takesKeys: server.takesKeys(),
    admitsUnverified: server.admitsUnverified,
    demands: server.demands,
    profiles: server.profiles,
    keys: server.keys,
    audit: server.audit,
    measuring: server.measuring,
    outbox: server.outbox,
    clock: server.clock,
    resources: server.resources.all,
  };
}

/** The objects that several endpoints share. */
function buildParts({ server, contributions }: Foundation) {
  const { config, host, scopes } = server;
  const resources = new ProtectedResources(server, contributions);
  const bearerTokens = new BearerTokens(server, contributions.binding);
  const claims = new Claims(config.claims, scopes, host.log);
  const lastUse = new LastUse(server);
  const clients = new ClientParts(server, contributions);
  const authorize = new AuthorizeEndpoint(
    server,
    clients.clients,
    contributions,
    resources,
    lastUse,
  );
  return { resources, bearerTokens, claims, lastUse, clients, authorize };
}

/** The handlers of the endpoints that every server has. */
function buildHandlers(
  { server, contributions }: Foundation,
  parts: ReturnType<typeof buildParts>,
): Readonly<Record<EndpointName, Handler>> {
  const { bearerTokens, claims, clients, authorize } = parts;
  const { binding, metadata, metadataValues: values, responseModes } = contributions;
  const authentication = clients.authenticating((id) => clients.clients.find(id), TOKEN_PATH);
  const additions = { members: metadata, values, responseModes: responseModes.names };
  requireOwnMembers(metadata, openidProviderMetadata(server, [], { ...additions, members: {} }));
  const discovery = new Discovery(server, additions);
  return {
    oauth_server_authorize: authorize.get,
    oauth_server_consent: authorize.post,
    oauth_server_token: tokenEndpoint(server, contributions, parts, authentication).answer,
    oauth_server_revoke: new RevokeEndpoint(server, authentication).answer,
    oauth_server_introspect: new IntrospectEndpoint(
      server.issuer,
      authentication,
      bearerTokens,
      contributions,
    ).answer,
    oauth_server_userinfo: new UserinfoEndpoint(bearerTokens, claims, binding).answer,
    oauth_server_openid_configuration: discovery.openidConfiguration(),
    oauth_server_metadata: discovery.metadata(),
    oauth_server_jwks: discovery.jwks(),
  };
}

function tokenEndpoint(
  server: Server,
  { binding, grants, issuanceChecks: checks, describe, ...contributions }: Contributions,
  { resources, claims, lastUse }: ReturnType<typeof buildParts>,
  authentication: ClientAuthentication,
): TokenEndpoint {
  const { secondUses, mayRedirect, droppedScopes, assertionGrant } = contributions;
  const issuing = new Issuing(server, claims, { checks, binding, describe });
  const lostAnswers = new LostAnswers(server.clock);
  const parts = {
    server,
    issuing,
    lostAnswers,
    resources,
    secondUses,
    mayRedirect,
    droppedScopes,
    binding,
  };
  return new TokenEndpoint(
    makeGrants(grants, parts),
    parts,
    { authentication, assertionGrant },
    lastUse,
  );
}

/** The endpoints with the metadata of APIs, if the server publishes it. */
function resourceMetadataEndpoints(
  resources: ProtectedResources,
  by: Answering,
): readonly AnsweringEndpoint[] {
  const { name: first } = RESOURCE_METADATA;
  return resources.published().map(([path, resource], index) => {
    const name = index === 0 ? first : `${first}_${index + 1}`;
    return new AnsweringEndpoint(
      { ...RESOURCE_METADATA, name, path },
      resourceMetadata(resource),
      by,
    );
  });
}
