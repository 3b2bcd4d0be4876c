import type { McpContext } from './context.ts';
import { isForeign, preflightResponse, withCors } from './origins.ts';
import { refusal } from './refusal.ts';

/** The name of the endpoint that rejects all methods except POST. */
export const STREAM = 'mcp_server_stream';
/** The name of the endpoints that tell a client where the MCP endpoint is. */
export const MISPLACED = 'mcp_server_misplaced';

/**
 * Responds with 405. With `mcp:oauth:challenge`, responds to a GET without a usable token with a
 * 401 challenge instead: clients send this GET to find out where to get a token.
 */
export async function answerStream(context: McpContext, request: Request): Promise<Response> {
  const { allowed_origins: allowed, oauth } = context.config;
  const refuse = () => {
    const refused = refusal(405, 'This server keeps no streams and no sessions.', {
      Allow: 'POST',
    });
    context.logRefusal(STREAM, request, refused, null);
    return refused;
  };
  const isAsked = oauth.challenge && (request.method === 'GET' || request.method === 'HEAD');
  const challenged = isAsked && !isForeign(request, context.server.origin, allowed);
  const response = challenged
    ? await context.withToken(request, async () => context.tokenRefusal() ?? refuse())
    : refuse();
  return withCors(response, request, allowed);
}

/**
 * Responds with 404 to requests for the endpoint's path with a trailing slash. The response
 * contains the correct URL. A redirect would not work, because most clients drop the body of a
 * redirected POST.
 */
export async function answerMisplaced(context: McpContext, request: Request): Promise<Response> {
  const { allowed_origins: allowed } = context.config;
  if (request.method === 'OPTIONS') return preflightResponse(request, allowed, []);
  const refused = refusal(
    404,
    `The MCP endpoint is ${context.resource}, without a slash at the end.`,
  );
  context.logRefusal(MISPLACED, request, refused, null);
  return withCors(refused, request, allowed);
}
