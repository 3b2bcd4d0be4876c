import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { HttpContext } from '@adonisjs/core/http';
import { createHandler } from 'portico/fetch';
import { startApplication, authorizationServerOf } from 'portico';
import { mcpServerOf } from '@portico/mcp';
import { requestFrom } from 'portico/node';
import definition from '#services/portico';

const application = await startApplication(definition);
const server = authorizationServerOf(application);
const mcp = mcpServerOf(application);
const handle = createHandler<HttpContext>(server, mcp);

/**
 * The pages that people see are routes, behind the session. What applications call is answered
 * before it.
 */
export const PAGES = ['/oauth/authorize', '/oauth/applications'];

const paths = [...server.endpoints, ...mcp.endpoints].map(({ path }) => path);
const called = new Set(paths.filter((path) => !PAGES.includes(path)));

export const isCalled = ({ request }: HttpContext) => called.has(request.url());

/** The request as Portico sees it; what the body parser has read is given to it again. */
function requestOf({ request, response }: HttpContext): Request {
  const { request: incoming } = request;
  const asked = { incoming, outgoing: response.response, target: incoming.url ?? '/' };
  return requestFrom({ ...asked, parsed: request.raw() ?? undefined }, server.origin);
}

function send(answer: Response, { request, response }: HttpContext): void {
  response.status(answer.status);
  for (const [name, value] of answer.headers)
    if (name !== 'set-cookie') response.header(name, value);
  for (const cookie of answer.headers.getSetCookie()) response.append('set-cookie', cookie);
  // AdonisJS copies the id of the request into the answer, whatever it is.
  request.request.headers['x-request-id'] = answer.headers.get('x-request-id') ?? undefined;
  if (answer.body === null) response.send('');
  else response.stream(Readable.fromWeb(answer.body as ReadableStream));
}

/** Answers a request to one of Portico's endpoints. */
export async function portico(ctx: HttpContext): Promise<void> {
  const answer = await handle(requestOf(ctx), ctx);
  if (answer === null) ctx.response.notFound('Not found');
  else send(answer, ctx);
}

/** A route whose handler may call `token()`. */
export const withToken = (handler: (ctx: HttpContext) => unknown) => async (ctx: HttpContext) =>
  send(
    await server.withToken(requestOf(ctx), async () => Response.json(await handler(ctx)), ctx),
    ctx,
  );
