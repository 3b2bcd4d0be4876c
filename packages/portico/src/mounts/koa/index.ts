/** Mounts Portico in a Koa 2 or 3 application. */
import { Readable } from 'node:stream';
import type { ReadableStream as NodeStream } from 'node:stream/web';
import type { Middleware, ParameterizedContext as Context } from 'koa';
import { MountedEndpoints, type Mountable } from '../fetch/dispatch.ts';
import { readAuthorization } from '../../http/bearer.ts';
import { toOriginForm } from '../../http/request-target.ts';
import { OF_THE_BODY } from '../replaced-body.ts';
import { answerOf, answerTo, headersOnly } from '../node/mount.ts';
import { answerFromResponse, inOnePiece, type SentAnswer } from '../node/sent-answer.ts';
import {
  BearerError,
  bearerErrorResponse,
  type AuthorizationServer,
  type ProtectedRoutes,
} from '../../index.ts';

export type { Mountable } from '../fetch/dispatch.ts';

/**
 * Returns the endpoints as Koa middleware.
 *
 * Add it after the session middleware. Add it before the CSRF check, which would reject requests
 * from other applications. Body parsers can come before it.
 *
 * Host methods receive Koa's context. Koa sends the response after all earlier middleware has
 * finished, for example the session middleware.
 *
 * @example
 * app.use(portico(server, mcp));
 */
export function portico(server: AuthorizationServer, ...more: readonly Mountable[]): Middleware {
  const mounted = new MountedEndpoints([server, ...more]);
  return async (ctx, next) => {
    const target = toOriginForm(ctx.originalUrl);
    const endpoint = mounted.dispatch(ctx.method, target);
    if (endpoint === null) {
      await next();
      return;
    }
    const asked = { incoming: ctx.req, outgoing: ctx.res, target, parsed: parsedBody(ctx) };
    await answer(ctx, await answerOf(endpoint, asked, server.origin, ctx));
  };
}

/**
 * Makes `token()` available in the middleware that follows. Responds with 401 or 403 if `token()`
 * rejects a request, and with 503 or 500 if the token cannot be looked up. With several resources,
 * pass one: `bearer(server.resource(url))`.
 *
 * @example
 * router.use(bearer(server));
 */
export function bearer(server: ProtectedRoutes): Middleware {
  return async (ctx, next) => {
    const found = await server.lookUpToken(
      readAuthorization(ctx.req),
      () => headersOnly(ctx.req, server.origin, ctx.originalUrl),
      ctx,
    );
    if ('failure' in found) return answer(ctx, failureOf(ctx, found.failure));
    try {
      await found.run(next);
    } catch (error) {
      if (!(error instanceof BearerError) || ctx.headerSent) throw error;
      await answer(ctx, failureOf(ctx, bearerErrorResponse(error)));
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

/** Adds the answer's cookies to those that are already set. */
async function answer(ctx: Context, given: SentAnswer): Promise<void> {
  // Koa computes the length of every body except a stream, so read the body into memory.
  const { status, fields, cookies, body } = await inOnePiece(given);
  if (body instanceof ReadableStream) forgiveLeaving(ctx);
  // Node closes the connection after the response if you remove a Transfer-Encoding header that is
  // not set. So remove only headers that are set.
  for (const name of OF_THE_BODY) if (ctx.res.hasHeader(name)) ctx.remove(name);
  ctx.body = body instanceof ReadableStream ? Readable.fromWeb(body as NodeStream) : bytesOf(body);
  // Koa changes the status and the headers when the body is set, so set them later.
  ctx.status = status;
  for (const { name, value, isAdded } of fields) {
    if (isAdded) ctx.append(name, value);
    else ctx.set(name, value);
  }
  for (const cookie of cookies) ctx.append('set-cookie', cookie);
}

/** The answer contains the request's id. */
function failureOf(ctx: Context, response: Response): SentAnswer {
  return answerFromResponse(answerTo(ctx.req, response));
}

function bytesOf(body: string | Uint8Array | null): Buffer | null {
  return body === null ? null : Buffer.from(body);
}

/**
 * Ignores clients that disconnect before a stream ends. Koa 3 would report each one as an
 * application error with a stack.
 */
function forgiveLeaving(ctx: Context): void {
  const tell = ctx.onerror.bind(ctx);
  Object.assign(ctx, {
    onerror(error: NodeJS.ErrnoException | null): void {
      if (error?.code !== 'ERR_STREAM_PREMATURE_CLOSE') tell(error as Error);
    },
  });
}
