import { requestIdOf } from '../http/request-id.ts';
import { isForeign, preflightResponse, withCors } from './origins.ts';
import { refusal } from './refusal.ts';
import { logRefusal } from './refusal-log.ts';
import { tokenRefusal, type RpcEndpointOptions } from './rpc-endpoint.ts';

/** The name of the endpoint that refuses what is no POST. */
export const STREAM = 'mcp_server_stream';
/** The name of those that say where the endpoint is. */
export const MISPLACED = 'mcp_server_misplaced';

type Answer = (request: Request) => Promise<Response>;

/**
 * 405. With `mcp:oauth:challenge` a GET without a usable token is 401 with the challenge: clients send it to learn where
 * a token comes from.
 */
export function createStreamEndpoint(options: RpcEndpointOptions): Answer {
  const { server, config, log } = options;
  const { allowed_origins: allowed, oauth } = config;
  const refuse = (request: Request) => {
    const refused = refusal(405, 'This server keeps no streams and no sessions.', { Allow: 'POST' });
    logRefusal(options, STREAM, request, refused, null);
    return refused;
  };
  const authenticated = (request: Request) =>
    server
      .withToken(request, async () => tokenRefusal(options) ?? refuse(request))
      .catch((exception: unknown) => {
        log.error('The MCP endpoint failed: {exception}', { requestId: requestIdOf(request), exception });
        return refusal(500, 'The server failed to answer.');
      });
  return async (request) => {
    const isAsked = oauth.challenge && (request.method === 'GET' || request.method === 'HEAD');
    const challenged = isAsked && !isForeign(request, server.origin, allowed);
    return withCors(challenged ? await authenticated(request) : refuse(request), request, allowed);
  };
}

/**
 * 404 for the path of the endpoint with a slash behind it, which says where the endpoint is. It leads nobody there: a
 * redirect loses the body of a POST in most clients.
 */
export function createMisplacedEndpoint(options: RpcEndpointOptions): Answer {
  const { resource, config } = options;
  return async (request) => {
    if (request.method === 'OPTIONS') return preflightResponse(request, config.allowed_origins, []);
    const refused = refusal(404, `The MCP endpoint is ${resource}, without a slash at the end.`);
    logRefusal(options, MISPLACED, request, refused, null);
    return withCors(refused, request, config.allowed_origins);
  };
}
