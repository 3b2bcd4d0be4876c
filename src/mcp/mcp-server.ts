import type { Log } from '../contracts/log.ts';
import { requestIdOf, withRequestId } from '../http/request-id.ts';
import { BearerError, token, type AuthorizationServer, type Endpoint } from '../oauth-server/index.ts';
import type { McpConfig } from './config.ts';
import { exchange } from './exchange.ts';
import { corsHeaders, DOCUMENT_PREFLIGHT, isForeign, preflightResponse } from './origins.ts';
import { readMessages, refusal, refusedBecause, type Messages } from './messages.ts';
import { protocolServer } from './protocol.ts';
import type { RegisteredTool, ToolRegistry } from './tools.ts';

/** Where the endpoint is, below the origin of `public_url`. */
export const MCP_PATH = '/mcp';
/** The scope of service tokens: listing all tools, and calling the public ones. */
export const SERVICE_SCOPE = 'mcp:service';

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

interface McpContext extends McpServerOptions {
  readonly resource: string;
}

/** Makes the endpoint; opens nothing. Its resource is the authorization server's origin plus `/mcp`. */
export function createMcpServer(options: McpServerOptions): McpServer {
  const { server, config, tools } = options;
  const resource = `${server.issuer}${MCP_PATH}`;
  const context: McpContext = { ...options, resource };
  const metadata = async (request: Request) =>
    request.method === 'OPTIONS'
      ? new Response(null, { status: 204, headers: DOCUMENT_PREFLIGHT })
      : Response.json(resourceMetadata(context), {
          headers: { 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'public, max-age=60' },
        });
  return {
    resource,
    config,
    tools,
    endpoints: withRequestIds([
      {
        name: 'mcp_server_rpc',
        path: MCP_PATH,
        methods: ['POST', 'OPTIONS'],
        handle: (request) => answer(context, request),
      },
      {
        name: 'mcp_server_stream',
        path: MCP_PATH,
        methods: ['GET', 'DELETE', 'PUT', 'PATCH'],
        refusesMethods: true,
        handle: async (request) =>
          readable(
            refusal(405, 'This server keeps no streams and no sessions.', { Allow: 'POST' }),
            request,
            config,
          ),
      },
      // RFC 9728 section 3.1: the path of the resource comes behind the well-known one; some clients ask without it.
      {
        name: 'mcp_server_resource_metadata',
        path: `/.well-known/oauth-protected-resource${MCP_PATH}`,
        methods: ['GET', 'OPTIONS'],
        handle: metadata,
      },
      {
        name: 'mcp_server_resource_metadata_root',
        path: '/.well-known/oauth-protected-resource',
        methods: ['GET', 'OPTIONS'],
        handle: metadata,
      },
    ]),
  };
}

function withRequestIds(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  return endpoints.map((endpoint) => ({
    ...endpoint,
    handle: async (request) => withRequestId(await endpoint.handle(request), requestIdOf(request)),
  }));
}

/** Protected resource metadata (RFC 9728 section 2). */
function resourceMetadata({ resource, server, config }: McpContext): Readonly<Record<string, unknown>> {
  return {
    resource,
    authorization_servers: [server.issuer],
    scopes_supported: config.oauth.scopes_supported,
    bearer_methods_supported: ['header'],
    resource_name: nameOf(server, config),
  };
}

function nameOf(server: AuthorizationServer, config: McpConfig): string {
  return config.name ?? server.config.name;
}

/** POST /mcp: who may ask, then what is asked, then the protocol. Never rejects. */
async function answer(context: McpContext, request: Request): Promise<Response> {
  const { config, server, log } = context;
  if (isForeign(request, server.issuer, config.allowed_origins)) {
    return told(context, request, refusal(403, 'Pages of this origin may not call tools.'), null);
  }
  if (request.method === 'OPTIONS') return preflightResponse(corsHeaders(request, config.allowed_origins));
  const response = await server
    .withToken(request, async () => {
      if (isUnusable()) return refusal(401, 'A bearer token for this resource is needed.');
      return told(context, request, await authorized(context, request), token().clientId());
    })
    .catch((exception: unknown) => {
      log.error('The MCP endpoint failed: {exception}', { requestId: requestIdOf(request), exception });
      return refusal(500, 'The server failed to answer.');
    });
  return readable(response, request, config);
}

/** The answer, which a page of an allowed origin can read, whatever it says. */
function readable(response: Response, request: Request, config: McpConfig): Response {
  for (const [name, value] of corsHeaders(request, config.allowed_origins))
    response.headers.append(name, value);
  return response;
}

/** Whether there is no usable token; `requireUsable` tells the log why. */
function isUnusable(): boolean {
  try {
    token().requireUsable();
    return false;
  } catch (error) {
    if (error instanceof BearerError) return true;
    throw error;
  }
}

/** One line for a refusal, as the authorization server writes it. */
function told(
  { log, server }: McpContext,
  request: Request,
  response: Response,
  clientId: string | null,
): Response {
  const detail = refusedBecause(response);
  // Whoever hung up was refused nothing.
  if (detail !== null && response.status !== 499) {
    const [requestId, error] = [requestIdOf(request), response.status];
    const address = addressOf(server, request);
    log.info('{endpoint} refused: {error} ({detail})', {
      endpoint: 'mcp_server_rpc',
      requestId,
      error,
      detail,
      clientId,
      address,
    });
  }
  return response;
}

/** A refusal is answered, whatever the host knows of where it came from. */
function addressOf({ host }: AuthorizationServer, request: Request): string | null {
  try {
    return host.clientAddress(request);
  } catch {
    return null;
  }
}

/** Neither 401 nor 403 carries a challenge, as the vendor's toolkit requires (RFC 6750 section 3 would have one). */
async function authorized(context: McpContext, request: Request): Promise<Response> {
  const known = [SERVICE_SCOPE, ...context.config.oauth.scopes_supported];
  const scopes = known.filter((scope) => context.server.offers(scope));
  if (!scopes.some((scope) => token().can(scope))) {
    return refusal(403, 'The token has no scope of this resource.');
  }
  const read = await readMessages(request);
  if ('refusal' in read) return read.refusal;
  return refuseCalls(context, read.messages) ?? speak(context, request, read.messages);
}

/** Why a tool may not be called with the token of this request; null when it may. Asked before MCP begins, and again before the tool runs. */
function refusalOf(
  { config }: McpContext,
  tool: RegisteredTool,
): { status: 401 | 403; message: string } | null {
  if (!tool.personal) return null;
  if (token().user() === null)
    return { status: 401, message: 'This tool acts for an account: link one first.' };
  const scope = tool.scope ?? config.oauth.scopes_supported[0] ?? '';
  if (token().can(scope)) return null;
  return { status: 403, message: 'The linked account or its token does not reach this tool.' };
}

/** A personal tool is refused before MCP handles anything: 401 without a linked account, 403 when the token does not reach. */
function refuseCalls(context: McpContext, { calledTools }: Messages): Response | null {
  for (const name of calledTools) {
    const tool = context.tools.find(name);
    const refused = tool === null ? null : refusalOf(context, tool);
    if (refused !== null) return refusal(refused.status, refused.message);
  }
  return null;
}

function speak(
  context: McpContext,
  request: Request,
  { parsed, initializesAs }: Messages,
): Promise<Response> {
  const { config, server, tools, log } = context;
  const { version, instructions, transport } = config;
  const speaker = protocolServer({
    name: nameOf(server, config),
    version,
    instructions,
    initializesAs,
    tools,
    toolTimeout: config.tool_timeout,
    log,
    refusalOf: (tool) => refusalOf(context, tool)?.message ?? null,
  });
  return exchange({ server: speaker, request, parsed, streaming: transport.streaming });
}
