import { ConfigurationError } from '@portico/sql';
import {
  type Application,
  authorizationServerOf,
  type ConfigMap,
  type ConfigurationProblem,
  type Plugin,
} from 'portico';
import type { McpConfig, McpConfigInput } from './config.ts';
import { mcpConfiguration } from './configuration.ts';
import { MCP_PATH } from './context.ts';
import { FEATURES } from './features.ts';
import type { McpServer } from './mcp-endpoint.ts';
import { createMcpServer } from './mcp-server.ts';
import { getEndpoint, registerAt } from './registering.ts';
import { repeatedArguments } from './protocol/parameter-headers.ts';
import { createToolRegistry, type ToolRegistry } from './tools/tools.ts';
import { STATELESS_VERSION } from './protocol/versions.ts';

/** These routes read no session, so they need no CSRF check. */
const EXEMPT = {
  mcp_server_rpc: true,
  mcp_server_stream: true,
  mcp_server_misplaced: true,
  mcp_server_misplaced_twice: true,
};

/** The key of the McpServer in `app.services`. */
const MCP = 'mcp';

/**
 * Returns the tool registry of the application that is starting. Call `tool().register(…)` in the
 * application's `register`. `path` is the endpoint's path. Default: `/mcp`. Throws if you call this
 * function anywhere else, or if no endpoint has the path.
 */
export function tool(path?: string): ToolRegistry {
  return getEndpoint('tool', 'tools', path).tools;
}

/**
 * Returns the MCP endpoint of a started application. `path` is the endpoint's path. Default:
 * `/mcp`. Throws if the application does not have the plugin, or if no endpoint has the path.
 */
export function mcpServerOf(application: Application, path = MCP_PATH): McpServer {
  const { services } = application;
  if (services.get(MCP) === undefined)
    throw new Error('The application has no MCP server; add mcp() to its plugins');
  const server = services.get(serviceKey(path));
  if (server === undefined)
    throw new Error(`The application has no MCP endpoint at ${path}; add it to mcp:endpoints`);
  return server as McpServer;
}

function serviceKey(path: string): string {
  return path === MCP_PATH ? MCP : `${MCP}:${path}`;
}

/**
 * The MCP endpoint as a kit plugin. List it after `oauthServer()`. The plugin adds the
 * configuration section `mcp`, `POST /mcp`, the resource metadata, and `tool()` for the
 * application's tools.
 */
export function mcp(): Plugin<{ mcp: McpConfigInput }> {
  return {
    name: 'mcp',
    defaults: { mcp: {}, csrf_exempt_routes: EXEMPT },
    configuration: { mcp: mcpConfiguration },
    problems,
    migrations: [],
    views: null,
    commands: () => {},
    register(application) {
      for (const [path, config] of configuredEndpoints(application)) {
        const server = createMcpServer({
          server: authorizationServerOf(application),
          config,
          tools: createToolRegistry(),
          log: application.log,
          path,
        });
        application.services.set(serviceKey(path), server);
        for (const { handle, ...endpoint } of server.endpoints) {
          const handler = (_: unknown, request: Request) => handle(request);
          application.route({ ...endpoint, readsNoSession: true, handler });
        }
      }
    },
    async around(application, register) {
      const paths = [...configuredEndpoints(application).keys()];
      const endpoints = new Map(paths.map((path) => [path, mcpServerOf(application, path)]));
      await registerAt(endpoints, register);
      for (const endpoint of endpoints.values()) {
        requireOfferedScopes(application, endpoint);
        const { tools, config } = endpoint;
        if (config.protocol_versions.includes(STATELESS_VERSION)) requireRepeatable(tools);
      }
    },
  };
}

/** Returns the settings of each endpoint by its path. `/mcp` comes first. */
function configuredEndpoints(application: Application): ReadonlyMap<string, McpConfig> {
  const config = application.config['mcp'] as McpConfig;
  return new Map([[MCP_PATH, config], ...endpointsIn(config)]);
}

/** Returns the settings of each additional endpoint by its path. */
function endpointsIn(config: McpConfig): ReadonlyMap<string, McpConfig> {
  return new Map(FEATURES.flatMap((feature) => Object.entries(feature.endpoints?.(config) ?? {})));
}

/**
 * Checks that `mcp:resource`, `oauth_server:audience`, and `public_url` plus `/mcp` are the same
 * URL, because the resource is also the audience of its tokens.
 */
function problems(config: ConfigMap): readonly ConfigurationProblem[] {
  const section = config['mcp'] as McpConfig;
  const { resource, oauth } = section;
  const {
    audience,
    scopes,
    resources = {},
  } = config['oauth_server'] as {
    readonly audience: string;
    readonly resources?: Readonly<Record<string, { readonly challenge?: boolean | undefined }>>;
    readonly scopes: Readonly<Record<string, unknown>>;
  };
  const basePath = config['base_path'] as string;
  const issuer = `${new URL(config['public_url'] as string).origin}${basePath}`;
  const canonical = `${issuer}${MCP_PATH}`;
  const expected = `public_url plus ${basePath === '' ? '' : 'base_path plus '}/mcp`;
  const challenges =
    oauth.challenge ||
    [MCP_PATH, ...endpointsIn(section).keys()].some(
      (path) => resources[`${issuer}${path}`]?.challenge === true,
    );
  const unknown = oauth.scopes_supported.filter((scope) => !Object.hasOwn(scopes, scope));
  return [
    ...(resource === undefined || resource === canonical
      ? []
      : [{ key: 'mcp:resource', message: `must be ${expected}: ${canonical}` }]),
    // If both settings contain the same wrong value, report it only once. With several resources,
    // the audience can be another resource.
    ...(audience === canonical ||
    (resource !== undefined && audience === resource) ||
    Object.hasOwn(resources, canonical)
      ? []
      : [{ key: 'oauth_server:audience', message: `must be the MCP resource: ${canonical}` }]),
    ...unknown.map((scope) => ({
      key: 'mcp:oauth:scopes_supported',
      message: `contains ${scope}, which is not in oauth_server:scopes; add it there`,
    })),
    ...FEATURES.flatMap((feature) => feature.problems?.(section, challenges) ?? []),
  ];
}

function requireOfferedScopes(application: Application, endpoint: McpServer): void {
  const server = authorizationServerOf(application);
  const api = server.resources.length === 0 ? server : server.resource(endpoint.resource);
  const problems = endpoint.guarded().flatMap(({ called, scope }) => {
    if (scope === null || api.offers(scope)) return [];
    const key = server.offers(scope)
      ? `oauth_server:resources:${endpoint.resource}:scopes`
      : 'oauth_server:scopes';
    return [
      { key, message: `does not contain ${scope}, which scope() of ${called} requires; add it` },
    ];
  });
  if (problems.length > 0) throw new ConfigurationError(problems);
}

/**
 * Throws if a tool marks an argument that a header cannot repeat. 2026-07-28 clients would not
 * offer such a tool.
 */
function requireRepeatable(tools: ToolRegistry): void {
  for (const { name, inputSchema } of tools.all()) {
    try {
      repeatedArguments(inputSchema);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      throw new Error(`The inputSchema() of the tool ${name} ${problem}`, { cause: error });
    }
  }
}
