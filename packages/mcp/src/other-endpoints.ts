import type { McpContext } from './context.ts';
import { isForeign, preflightResponse, withCors } from './origins.ts';
import { refusal } from './refusal.ts';

/** The name of the endpoint that rejects all methods except POST. */
export const STREAM = 'mcp_server_stream';
/**
 * The name of the endpoints for URLs with extra slashes. They tell the client the correct URL of
 * the MCP endpoint.
 */
export const MISPLACED = 'mcp_server_misplaced';

/**
 * Responds with 405. Clients send a GET to find out where to get a token. Therefore, with
 * `mcp:oauth:challenge`, a GET or HEAD without a valid token gets a 401 response with a challenge.
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
 * Responds with 404 to requests whose path ends with an extra slash. The response contains the
 * correct URL. A redirect would not help, because most clients drop the body of a redirected POST.
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
