import { ConfigurationError } from '@portico/sql';
import type { AuthorizationServer, Endpoint } from 'portico';
import { getRequestId, publicCacheControl, runInContext, withRequestId } from 'portico/extension';
import { MCP_PATH, McpContext, type McpServerOptions } from './context.ts';
import { Contributions } from './contributions.ts';
import type { Named } from './feature.ts';
import { FEATURES } from './features.ts';
import type { McpServer } from './mcp-endpoint.ts';
import { documentPreflight } from './origins.ts';
import { jsonResponse } from './refusal.ts';
import { answerMisplaced, answerStream, MISPLACED, STREAM } from './other-endpoints.ts';
import { RPC, RpcEndpoint } from './rpc-endpoint.ts';
import { listedScopes, SERVICE_SCOPE } from './tools/tool-access.ts';
import type { RegisteredTool } from './tools/tools.ts';

/**
 * Creates an MCP endpoint, whose resource is the issuer plus the path (RFC 8707). The endpoint does
 * not listen: you must mount its `endpoints`. Throws a ConfigurationError if the server does not
 * issue tokens for the resource, if `scopes_supported` contains a scope of another resource, or if
 * another endpoint has the path.
 *
 * @example
 * const mcp = createMcpServer({ server, config: mcpConfiguration.parse({}), tools, log });
 * app.use(portico(server, mcp));
 */
export function createMcpServer(options: McpServerOptions): McpServer {
  const context = new McpContext(options);
  const contributions = new Contributions(context, FEATURES);
  const { server, api, config, tools, resource } = context;
  requireScopesOf(context);
  context.siblings.add(context.path);
  const document = buildMetadata(context);
  const { challenge, narrow_service_scope: narrows } = config.oauth;
  api.serveResource({
    ...(api.audience === resource ? { metadata: document } : {}),
    ...(challenge ? { stepUp: true } : {}),
    ...(narrows ? { serviceScope: SERVICE_SCOPE } : {}),
  });
  const endpoints = [
    ...protocolEndpoints(context, contributions),
    ...metadataEndpoints(context, document),
  ];
  // The authorization server already publishes one of the metadata documents if
  // `oauth_server:challenge` is on (AS-6.24). Do not publish it a second time.
  const own = endpoints.filter(({ path }) => !server.endpoints.some((each) => each.path === path));
  return {
    resource,
    path: context.path,
    config,
    tools,
    registries: contributions.registries,
    guarded: () => [...tools.all().map(named), ...contributions.guarded()],
    endpoints: own.map((endpoint) => measured(server, endpoint)),
  };
}

/**
 * Throws a ConfigurationError if `mcp:oauth:scopes_supported` contains a scope that the endpoint's
 * resource does not have.
 */
function requireScopesOf({ server, api, config, resource }: McpContext): void {
  if (server.resources.length === 0) return;
  const others = config.oauth.scopes_supported.filter((scope) => !api.offers(scope));
  if (others.length === 0) return;
  throw new ConfigurationError(
    others.map((scope) => ({
      key: 'mcp:oauth:scopes_supported',
      message: `contains ${scope}, which is not a scope of ${resource} in oauth_server:resources`,
    })),
  );
}

function named({ name, personal, scope }: RegisteredTool): Named {
  return { called: `the tool ${name}`, personal, scope };
}

/** Creates the protected resource metadata (RFC 9728 section 2). */
function buildMetadata({
  server,
  config,
  resource,
  name,
}: McpContext): Readonly<Record<string, unknown>> {
  const listed = listedScopes(server, config.oauth.scopes_supported);
  return {
    resource,
    authorization_servers: [server.issuer],
    ...(listed.length === 0 ? {} : { scopes_supported: listed }),
    bearer_methods_supported: ['header'],
    resource_name: name,
    ...server.binding?.metadata,
  };
}

function protocolEndpoints(context: McpContext, contributions: Contributions): readonly Endpoint[] {
  const path = `${context.server.mountPath}${context.path}`;
  const at = (name: string) => context.routeName(name);
  const rpc = new RpcEndpoint(context, contributions);
  return [
    { name: at(RPC), path, methods: ['POST', 'OPTIONS'], handle: (request) => rpc.answer(request) },
    {
      name: at(STREAM),
      path,
      methods: ['GET', 'DELETE', 'PUT', 'PATCH'],
      refusesMethods: true,
      handle: (request) => answerStream(context, request),
    },
    ...['/', '//'].map((slashes) => ({
      name: at(`${MISPLACED}${slashes.length === 1 ? '' : '_twice'}`),
      path: `${path}${slashes}`,
      methods: ['POST', 'GET', 'DELETE', 'PUT', 'PATCH', 'OPTIONS'] as const,
      handle: (request: Request) => answerMisplaced(context, request),
    })),
  ];
}

/**
 * Returns the endpoints that publish the metadata. In the document's URL, the well-known part comes
 * before the path of the resource (RFC 9728 section 3.1). Some clients omit `/mcp` from this URL,
 * so the main endpoint also publishes the document at the shorter URL. The base path stays, because
 * the URL without it may belong to another installation.
 */
function metadataEndpoints(context: McpContext, document: object): readonly Endpoint[] {
  const { server, metadataPath, path } = context;
  const handle = async (request: Request) =>
    request.method === 'OPTIONS'
      ? documentPreflight(request)
      : jsonResponse(document, 200, {
          'Access-Control-Allow-Origin': '*',
          'Cache-Control': publicCacheControl(request, 'max-age=60'),
        });
  const name = 'mcp_server_resource_metadata';
  const root: Endpoint = {
    name: `${name}_root`,
    path: `/.well-known/oauth-protected-resource${server.basePath}`,
    methods: ['GET', 'OPTIONS'],
    handle,
  };
  return [
    { name: context.routeName(name), path: metadataPath, methods: ['GET', 'OPTIONS'], handle },
    ...(path === MCP_PATH ? [root] : []),
  ];
}

/**
 * Adds a request id to each response, and records the same metrics as the authorization server's
 * endpoints.
 */
function measured({ measuring }: AuthorizationServer, endpoint: Endpoint): Endpoint {
  const { name, path: route } = endpoint;
  const task = { kind: 'endpoint', name, route } as const;
  const answer = async (request: Request) =>
    withRequestId(await endpoint.handle(request), getRequestId(request));
  const handle: Endpoint['handle'] =
    measuring === null
      ? answer
      : (request) => measuring.endpoint(task, request, () => answer(request));
  return {
    ...endpoint,
    handle: (request, context) =>
      runInContext(context, getRequestId(request), () => handle(request)),
  };
}
