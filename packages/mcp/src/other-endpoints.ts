import type { McpContext } from './context.ts';
import { isForeign, preflightResponse, withCors } from './origins.ts';
import { refusal } from './refusal.ts';

/** The name of the endpoint that refuses what is no POST. */
export const STREAM = 'mcp_server_stream';
/** The name of those that say where the endpoint is. */
export const MISPLACED = 'mcp_server_misplaced';

/**
 * 405. With `mcp:oauth:challenge` a GET without a usable token is 401 with the challenge: clients send it to learn where
 * a token comes from.
 */
export async function answerStream(context: McpContext, request: Request): Promise<Response> {
  const { allowed_origins: allowed, oauth } = context.config;
  const refuse = () => {
    const refused = refusal(405, 'This server keeps no streams and no sessions.', { Allow: 'POST' });
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
 * 404 for the path of the endpoint with a slash behind it. It says where the endpoint is and does not redirect: most clients lose
 * the body of a POST then.
 */
export async function answerMisplaced(context: McpContext, request: Request): Promise<Response> {
  const { allowed_origins: allowed } = context.config;
  if (request.method === 'OPTIONS') return preflightResponse(request, allowed, []);
  const refused = refusal(404, `The MCP endpoint is ${context.resource}, without a slash at the end.`);
  context.logRefusal(MISPLACED, request, refused, null);
  return withCors(refused, request, allowed);
}
