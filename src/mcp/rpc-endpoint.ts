import type { Log } from '../contracts/log.ts';
import { requestIdOf } from '../http/request-id.ts';
import { BearerError, token, type AuthorizationServer } from '../oauth-server/index.ts';
import type { McpConfig } from './config.ts';
import { exchange, type ExchangeOptions } from './exchange.ts';
import { readMessages } from './messages.ts';
import { isForeign, preflightResponse, withCors } from './origins.ts';
import { refusal, refusalMessage } from './refusal.ts';
import { callRefusal, reachesResource } from './tool-access.ts';
import { createProtocol } from './protocol.ts';
import type { ToolRegistry } from './tools.ts';

interface RpcEndpointOptions {
  /** What the server calls itself to assistants. */
  readonly name: string;
  readonly server: AuthorizationServer;
  readonly config: McpConfig;
  readonly tools: ToolRegistry;
  readonly log: Log;
}

/**
 * POST /mcp: origin, token, messages and tools are checked in this order, then the protocol answers. Never rejects. Neither 401
 * nor 403 has a challenge, which RFC 6750 section 3 would have (MCP-8.4).
 */
export function createRpcEndpoint(options: RpcEndpointOptions): (request: Request) => Promise<Response> {
  const { server, config, log } = options;
  const exchanging = { protocol: createProtocol(options), streaming: config.transport.streaming };
  return async (request) => {
    if (isForeign(request, server.origin, config.allowed_origins)) {
      const foreign = refusal(403, 'Pages of this origin may not call tools.');
      logRefusal(options, request, foreign, null);
      return foreign;
    }
    if (request.method === 'OPTIONS') return preflightResponse(request, config.allowed_origins);
    const response = await server
      .withToken(request, async () => {
        if (!hasUsableToken()) return refusal(401, 'A bearer token for this resource is needed.');
        const answer = await answerMessages(options, request, exchanging);
        logRefusal(options, request, answer, token().clientId());
        return answer;
      })
      .catch((exception: unknown) => {
        log.error('The MCP endpoint failed: {exception}', { requestId: requestIdOf(request), exception });
        return refusal(500, 'The server failed to answer.');
      });
    return withCors(response, request, config.allowed_origins);
  };
}

/** `requireUsable` writes the reason to the log. */
function hasUsableToken(): boolean {
  try {
    token().requireUsable();
    return true;
  } catch (error) {
    if (error instanceof BearerError) return false;
    throw error;
  }
}

async function answerMessages(
  { server, config, tools }: RpcEndpointOptions,
  request: Request,
  exchanging: ExchangeOptions,
): Promise<Response> {
  if (!reachesResource(server, config)) return refusal(403, 'The token has no scope of this resource.');
  const read = await readMessages(request);
  if ('refusal' in read) return read.refusal;
  const { messages } = read;
  for (const called of messages.calledTools) {
    const tool = tools.find(called);
    const refused = tool === null ? null : callRefusal(config, tool);
    if (refused !== null) return refusal(refused.status, refused.message);
  }
  return exchange(request, messages, exchanging);
}

/** One line in the log for a refusal, in the form that the authorization server uses. */
function logRefusal(
  { log, server }: RpcEndpointOptions,
  request: Request,
  response: Response,
  clientId: string | null,
): void {
  const detail = refusalMessage(response);
  // 499: the caller hung up and gets no answer.
  if (detail === null || response.status === 499) return;
  log.info('{endpoint} refused: {error} ({detail})', {
    endpoint: 'mcp_server_rpc',
    requestId: requestIdOf(request),
    error: response.status,
    detail,
    clientId,
    address: clientAddress(server, request),
  });
}

/** A host that fails here must not turn a refusal into an error. */
function clientAddress({ host }: AuthorizationServer, request: Request): string | null {
  try {
    return host.clientAddress(request);
  } catch {
    return null;
  }
}
