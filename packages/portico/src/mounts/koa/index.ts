/** Portico in a Koa 2 or 3 application. */
import { Readable } from 'node:stream';
import type { ReadableStream as NodeStream } from 'node:stream/web';
import type { Middleware, ParameterizedContext as Context } from 'koa';
import { MountedEndpoints, type Mountable } from '../fetch/dispatch.ts';
import { isAdded } from '../../http/added-headers.ts';
import { readAuthorization } from '../../http/bearer.ts';
import { readBodyText } from '../../http/body-text.ts';
import { OF_THE_BODY } from '../../http/replaced-body.ts';
import { answerTo, headersOnly, requestFrom, requestIdOfIncoming } from '../node/mount.ts';
import {
  BearerError,
  bearerErrorResponse,
  type AuthorizationServer,
  type ProtectedRoutes,
} from '../../index.ts';

export type { Mountable } from '../fetch/dispatch.ts';

/**
 * Returns the endpoints as middleware: `app.use(portico(server, mcp))`.
 *
 * Add it after the session and before the CSRF check. The CSRF check would reject requests from
 * other applications. Body parsers may come before it.
 *
 * Host methods receive Koa's context. Koa sends the response after earlier middleware, such as the
 * session, has finished.
 */
export function portico(server: AuthorizationServer, ...more: readonly Mountable[]): Middleware {
  const mounted = new MountedEndpoints([server, ...more]);
  return async (ctx, next) => {
    const { method, originalUrl: target } = ctx;
    const endpoint = mounted.dispatch(method, target);
    if (endpoint === null) {
      await next();
    } else if ('refuse' in endpoint) {
      await answer(ctx, endpoint.refuse(requestIdOfIncoming(ctx.req)));
    } else {
      const asked = { incoming: ctx.req, outgoing: ctx.res, target, parsed: parsedBody(ctx) };
      await answer(ctx, await endpoint.handle(requestFrom(asked, server.origin), ctx));
    }
  };
}

/**
 * Makes `token()` work in the middleware after it: `router.use(bearer(server))`. If `token()`
 * refuses a request, responds with 401 or 403. If you have several resources, pass one:
 * `bearer(server.resource(url))`.
 */
export function bearer(server: ProtectedRoutes): Middleware {
  return async (ctx, next) => {
    const found = await server.lookUpToken(
      readAuthorization(ctx.req),
      () => headersOnly(ctx.req, server.origin, ctx.originalUrl),
      ctx,
    );
    if ('failure' in found) return answer(ctx, found.failure);
    try {
      await found.run(next);
    } catch (error) {
      if (!(error instanceof BearerError) || ctx.headerSent) throw error;
      await answer(ctx, bearerErrorResponse(error));
    }
  };
}

/**
 * Returns the body that koa-bodyparser, @koa/bodyparser or koa-body has read, as raw text if
 * possible. Returns undefined if no parser has read it.
 */
function parsedBody({ request }: Context): unknown {
  const { body, rawBody } = request as { readonly body?: unknown; readonly rawBody?: unknown };
  return typeof rawBody === 'string' ? rawBody : body;
}

/** Sends the response. Adds its cookies to the cookies that are already set. */
async function answer(ctx: Context, given: Response): Promise<void> {
  const response = answerTo(ctx.req, given);
  const body = await readBody(response);
  if (body instanceof Readable) forgiveLeaving(ctx);
  // Remove only headers that are set. If you remove a Transfer-Encoding that is not set, Node
  // closes the connection after the response.
  for (const name of OF_THE_BODY) if (ctx.res.hasHeader(name)) ctx.remove(name);
  ctx.body = body;
  // Set the status and headers after the body, because Koa changes them when the body is set.
  ctx.status = response.status;
  for (const [name, value] of response.headers) {
    if (name === 'set-cookie' || isAdded(name, response)) ctx.append(name, value);
    else ctx.set(name, value);
  }
}

/**
 * Ignores clients that disconnect before a stream has ended. Koa 3 would report each as an error of
 * the application, with a stack.
 */
function forgiveLeaving(ctx: Context): void {
  const tell = ctx.onerror.bind(ctx);
  Object.assign(ctx, {
    onerror(error: NodeJS.ErrnoException | null): void {
      if (error?.code !== 'ERR_STREAM_PREMATURE_CLOSE') tell(error as Error);
    },
  });
}

/**
 * Returns the body in one piece, so that Koa knows its length. Only event streams remain streams.
 */
async function readBody(response: Response): Promise<Readable | Buffer | null> {
  const text = readBodyText(response);
  if (text !== null) return Buffer.from(text);
  if (response.body === null) return null;
  const streams = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  return streams
    ? Readable.fromWeb(response.body as unknown as NodeStream)
    : Buffer.from(await response.arrayBuffer());
}
