import type { Log } from '../contracts/log.ts';
import { dpopMetadata } from '../http/challenges.ts';
import { runInContext, withCurrentRequestId } from '../http/context.ts';
import { requestIdOf, withRequestId } from '../http/request-id.ts';
import type { AuthorizationServer, Endpoint } from '../oauth-server/index.ts';
import { createChallenges } from './challenges.ts';
import type { McpConfig } from './config.ts';
import { documentPreflight } from './origins.ts';
import { jsonResponse } from './refusal.ts';
import { createMisplacedEndpoint, createStreamEndpoint, MISPLACED, STREAM } from './other-endpoints.ts';
import { createRpcEndpoint, RPC } from './rpc-endpoint.ts';
import { listedScopes, SERVICE_SCOPE } from './tool-access.ts';
import type { ToolRegistry } from './tools.ts';

/** Where the endpoint is, below the issuer. */
export const MCP_PATH = '/mcp';

/** The MCP endpoint of an application: its tools behind the bearer tokens of its authorization server. */
export interface McpServer {
  /** The canonical resource (RFC 8707), such as `https://app.example/mcp`. */
  readonly resource: string;
  /** The section `mcp`, validated and with its defaults. */
  readonly config: McpConfig;
  /** The registry that the endpoint serves. */
  readonly tools: ToolRegistry;
  /** To be mounted by path and method. */
  readonly endpoints: readonly Endpoint[];
}

/** What an endpoint is made of. */
export interface McpServerOptions {
  /** The authorization server whose tokens it takes. */
  readonly server: AuthorizationServer;
  /** The section `mcp`, as `mcpConfiguration` validates it. */
  readonly config: McpConfig;
  /** What it serves; tools that are registered later are served too. */
  readonly tools: ToolRegistry;
  /** Takes what tools throw. */
  readonly log: Log;
}

/** Makes the endpoint; opens nothing. Its resource is the issuer plus `/mcp`. */
export function createMcpServer(given: McpServerOptions): McpServer {
  const options = { ...given, log: withCurrentRequestId(given.log) };
  const { server, config, tools } = options;
  const resource = `${server.issuer}${MCP_PATH}`;
  const name = config.name ?? server.config.name;
  const listed = listedScopes(server, config.oauth.scopes_supported);
  // Protected resource metadata (RFC 9728 section 2).
  const document = {
    resource,
    authorization_servers: [server.issuer],
    ...(listed.length === 0 ? {} : { scopes_supported: listed }),
    bearer_methods_supported: ['header'],
    resource_name: name,
    ...dpopMetadata(server.dpop),
  };
  const metadataPath = `/.well-known/oauth-protected-resource${server.basePath}${MCP_PATH}`;
  const challenges = createChallenges(server, config, `${server.origin}${metadataPath}`);
  const answering = { ...options, name, resource, challenges };
  const { challenge, narrow_service_scope: narrows } = config.oauth;
  server.serveResource({
    ...(server.config.audience === resource ? { metadata: document } : {}),
    ...(challenge ? { stepUp: true } : {}),
    ...(narrows ? { serviceScope: SERVICE_SCOPE } : {}),
  });
  const metadata = async (request: Request) =>
    request.method === 'OPTIONS'
      ? documentPreflight(request)
      : jsonResponse(document, 200, {
          'Access-Control-Allow-Origin': '*',
          'Cache-Control': 'public, max-age=60',
        });
  return {
    resource,
    config,
    tools,
    // With `oauth_server:challenge` the server publishes one of the documents itself (AS-6.24).
    endpoints: withRequestIds(server, [
      {
        name: RPC,
        path: `${server.mountPath}${MCP_PATH}`,
        methods: ['POST', 'OPTIONS'],
        handle: createRpcEndpoint(answering),
      },
      {
        name: STREAM,
        path: `${server.mountPath}${MCP_PATH}`,
        methods: ['GET', 'DELETE', 'PUT', 'PATCH'],
        refusesMethods: true,
        handle: createStreamEndpoint(answering),
      },
      ...['/', '//'].map((slashes) => ({
        name: `${MISPLACED}${slashes.length === 1 ? '' : '_twice'}`,
        path: `${server.mountPath}${MCP_PATH}${slashes}`,
        methods: ['POST', 'GET', 'DELETE', 'PUT', 'PATCH', 'OPTIONS'] as const,
        handle: createMisplacedEndpoint(answering),
      })),
      // RFC 9728 section 3.1 puts this in front of the path of the resource; some clients ask without its last part.
      // Below no other base path: what is in front of that one describes another installation.
      {
        name: 'mcp_server_resource_metadata',
        path: metadataPath,
        methods: ['GET', 'OPTIONS'],
        handle: metadata,
      },
      {
        name: 'mcp_server_resource_metadata_root',
        path: `/.well-known/oauth-protected-resource${server.basePath}`,
        methods: ['GET', 'OPTIONS'],
        handle: metadata,
      },
    ]),
  };
}

/** Those endpoints whose path is none of the server's, measured as the server's are. */
function withRequestIds(
  { endpoints: published, measuring }: AuthorizationServer,
  endpoints: readonly Endpoint[],
): readonly Endpoint[] {
  const own = endpoints.filter(({ path }) => !published.some((each) => each.path === path));
  return own.map((endpoint) => {
    const { name, path: route } = endpoint;
    const task = { kind: 'endpoint', name, route } as const;
    const answer = async (request: Request) =>
      withRequestId(await endpoint.handle(request), requestIdOf(request));
    const measured: Endpoint['handle'] =
      measuring === null ? answer : (request) => measuring.endpoint(task, request, () => answer(request));
    return {
      ...endpoint,
      handle: (request, context) => runInContext(context, requestIdOf(request), () => measured(request)),
    };
  });
}
