/** Portico in a Koa application, 2 or 3. */
import { Readable } from 'node:stream';
import type { ReadableStream as NodeStream } from 'node:stream/web';
import type { Middleware, ParameterizedContext as Context } from 'koa';
import { MountedEndpoints, type Mountable } from '../fetch/dispatch.ts';
import { isAdded } from '../../http/added-headers.ts';
import { readAuthorization } from '../../http/bearer.ts';
import { readBodyText } from '../../http/body-text.ts';
import { OF_THE_BODY } from '../../http/replaced-body.ts';
import { answerTo, headersOnly, requestFrom, requestIdOfIncoming } from '../node/mount.ts';
import { BearerError, bearerErrorResponse, type AuthorizationServer } from '../../index.ts';

export type { Mountable } from '../fetch/dispatch.ts';

/**
 * The endpoints as middleware: `app.use(portico(server, mcp))`. Add it after the session, and
 * before the application's CSRF check, which would refuse requests of other applications. Body
 * parsers may come before it. The members of the host receive Koa's context. Koa sends the answer,
 * so that the middleware before it, such as the session, ends first.
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
 * Makes `token()` work in the middleware after it, and answers its refusals with 401 or 403:
 * `router.use(bearer(server))`.
 */
export function bearer(server: AuthorizationServer): Middleware {
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
 * The body from koa-bodyparser, @koa/bodyparser or koa-body; the raw text if it is kept. Undefined
 * without one.
 */
function parsedBody({ request }: Context): unknown {
  const { body, rawBody } = request as { readonly body?: unknown; readonly rawBody?: unknown };
  return typeof rawBody === 'string' ? rawBody : body;
}

/** Adds cookies to those that are already set. */
async function answer(ctx: Context, given: Response): Promise<void> {
  const response = answerTo(ctx.req, given);
  const body = await readBody(response);
  if (body instanceof Readable) forgiveLeaving(ctx);
  // Node closes the connection after an answer whose Transfer-Encoding was removed, even if there
  // was none.
  for (const name of OF_THE_BODY) if (ctx.res.hasHeader(name)) ctx.remove(name);
  ctx.body = body;
  // After the body, because Koa chooses a status and a type when the body is set.
  ctx.status = response.status;
  for (const [name, value] of response.headers) {
    if (name === 'set-cookie' || isAdded(name, response)) ctx.append(name, value);
    else ctx.set(name, value);
  }
}

/**
 * If a client leaves before a stream has ended, Koa 3 reports it as an application error with a
 * stack.
 */
function forgiveLeaving(ctx: Context): void {
  const tell = ctx.onerror.bind(ctx);
  Object.assign(ctx, {
    onerror(error: NodeJS.ErrnoException | null): void {
      if (error?.code !== 'ERR_STREAM_PREMATURE_CLOSE') tell(error as Error);
    },
  });
}

/** In one piece, so that Koa knows its length. Only events are sent as a stream. */
async function readBody(response: Response): Promise<Readable | Buffer | null> {
  const text = readBodyText(response);
  if (text !== null) return Buffer.from(text);
  if (response.body === null) return null;
  const streams = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  return streams
    ? Readable.fromWeb(response.body as unknown as NodeStream)
    : Buffer.from(await response.arrayBuffer());
}
