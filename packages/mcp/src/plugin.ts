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

/** These routes do not use a session, so they do not need a CSRF check. */
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
 * application's `register`. Throws anywhere else.
 */
export function tool(): ToolRegistry {
  return getEndpoint('tool()', 'tools').tools;
}

/**
 * Returns a started application's MCP endpoint. Throws when the application does not have the
 * plugin.
 */
export function mcpServerOf(application: Application): McpServer {
  const server = application.services.get(MCP);
  if (server === undefined) throw new Error('The application has no mcp() among its plugins');
  return server as McpServer;
}

/**
 * The MCP endpoint as a kit plugin. List it after `oauthServer()`. It adds the configuration
 * section `mcp`, `POST /mcp`, the resource metadata, and `tool()` for the application's tools.
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
      const server = createMcpServer({
        server: authorizationServerOf(application),
        config: application.config['mcp'] as McpConfig,
        tools: createToolRegistry(),
        log: application.log,
      });
      application.services.set(MCP, server);
      for (const { handle, ...endpoint } of server.endpoints) {
        application.route({ ...endpoint, handler: (_, request) => handle(request) });
      }
    },
    async around(application, register) {
      const endpoint = mcpServerOf(application);
      const { tools, config } = endpoint;
      await registerAt(endpoint, register);
      requireOfferedScopes(application, endpoint);
      if (config.protocol_versions.includes(STATELESS_VERSION)) requireRepeatable(tools);
    },
  };
}

/**
 * Checks that three settings contain the same URL, because the resource is also its tokens'
 * audience.
 */
function problems(config: ConfigMap): readonly ConfigurationProblem[] {
  const section = config['mcp'] as McpConfig;
  const { resource, oauth } = section;
  const { audience, scopes } = config['oauth_server'] as {
    readonly audience: string;
    readonly scopes: Readonly<Record<string, unknown>>;
  };
  const basePath = config['base_path'] as string;
  const canonical = `${new URL(config['public_url'] as string).origin}${basePath}${MCP_PATH}`;
  const expected = `public_url plus ${basePath === '' ? '' : 'base_path plus '}/mcp`;
  const unknown = oauth.scopes_supported.filter((scope) => !Object.hasOwn(scopes, scope));
  return [
    ...(resource === undefined || resource === canonical
      ? []
      : [{ key: 'mcp:resource', message: `must be ${expected}, ${canonical}` }]),
    // When both have the same wrong value, report it once.
    ...(audience === canonical || (resource !== undefined && audience === resource)
      ? []
      : [{ key: 'oauth_server:audience', message: `must be the MCP resource, ${canonical}` }]),
    ...unknown.map((scope) => ({
      key: 'mcp:oauth:scopes_supported',
      message: `names ${scope}, which is not in oauth_server:scopes`,
    })),
    ...FEATURES.flatMap((feature) => feature.problems?.(section) ?? []),
  ];
}

function requireOfferedScopes(application: Application, endpoint: McpServer): void {
  const server = authorizationServerOf(application);
  const problems = endpoint.guarded().flatMap(({ called, scope }) => {
    if (scope === null || server.offers(scope)) return [];
    return [{ key: 'oauth_server:scopes', message: `lacks ${scope}, the scope() of ${called}` }];
  });
  if (problems.length > 0) throw new ConfigurationError(problems);
}

/**
 * Throws if a tool marks arguments that cannot be repeated in headers. 2026-07-28 clients do not
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
