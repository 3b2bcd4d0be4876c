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

/** The routes that need no CSRF check, because they do not use the session. */
const EXEMPT = {
  mcp_server_rpc: true,
  mcp_server_stream: true,
  mcp_server_misplaced: true,
  mcp_server_misplaced_twice: true,
};

/** The key of the main endpoint's McpServer in `app.services`. */
const MCP = 'mcp';

/**
 * Returns the tool registry of the application that is starting. Call this function only in the
 * application's `register`. `path` is the endpoint's path (default: `/mcp`). Throws if you call it
 * anywhere else, or if there is no endpoint at this path.
 *
 * @example
 * register() {
 *   tool().register(weather);
 * }
 */
export function tool(path?: string): ToolRegistry {
  return getEndpoint('tool', 'tools', path).tools;
}

/**
 * Returns an MCP endpoint of a started application. `path` is the endpoint's path (default:
 * `/mcp`). Throws if the application does not use the plugin, or if there is no endpoint at this
 * path.
 *
 * @example
 * app.use(portico(authorizationServerOf(application), mcpServerOf(application)));
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
 * Creates the plugin that adds MCP endpoints. Add it after `oauthServer()`. It adds the
 * configuration section `mcp`, the endpoint `POST /mcp` and its resource metadata. Register the
 * application's tools with `tool()`.
 *
 * @example
 * export default defineApplication({ config, plugins: [oauthServer({ host }), mcp()], register });
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

/** Returns the settings of all endpoints, keyed by path. `/mcp` comes first. */
function configuredEndpoints(application: Application): ReadonlyMap<string, McpConfig> {
  const config = application.config['mcp'] as McpConfig;
  return new Map([[MCP_PATH, config], ...endpointsIn(config)]);
}

/** Returns the settings of all additional endpoints, keyed by path. */
function endpointsIn(config: McpConfig): ReadonlyMap<string, McpConfig> {
  return new Map(FEATURES.flatMap((feature) => Object.entries(feature.endpoints?.(config) ?? {})));
}

/**
 * Returns the problems with the section `mcp`. For example, `mcp:resource` must be the issuer plus
 * `/mcp`. This URL must also be `oauth_server:audience` or one of `oauth_server:resources`, because
 * it is the audience of the endpoint's tokens.
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
    // If `mcp:resource` and `oauth_server:audience` have the same wrong value, report it only once.
    // With several resources, the audience can be another resource.
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
 * Throws if a tool has an argument that must be repeated in a header, but cannot be. Clients of
 * version 2026-07-28 would not offer such a tool.
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
