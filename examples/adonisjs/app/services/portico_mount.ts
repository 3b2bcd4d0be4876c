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
 * The pages that people see. They are routes, because they need the session. Applications call all
 * other endpoints, and `portico` answers these before the routes.
 */
export const PAGES = ['/oauth/authorize', '/oauth/applications'];

const paths = [...server.endpoints, ...mcp.endpoints].map(({ path }) => path);
const called = new Set(paths.filter((path) => !PAGES.includes(path)));

export const isCalled = ({ request }: HttpContext) => called.has(request.url());

/** Returns the request for Portico. It contains the body that the body parser has already read. */
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
  // AdonisJS copies this request header to the response. Set it to Portico's request id.
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

/** Wraps a route's handler, so that it can call `token()`. */
export const withToken = (handler: (ctx: HttpContext) => unknown) => async (ctx: HttpContext) =>
  send(
    await server.withToken(requestOf(ctx), async () => Response.json(await handler(ctx)), ctx),
    ctx,
  );
