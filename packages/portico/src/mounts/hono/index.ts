/** Mounts Portico in a Hono application, on any runtime. */
import type { Context, ErrorHandler, MiddlewareHandler } from 'hono';
import { createHandler, type Mountable } from '../fetch/index.ts';
import { isAdded } from '../../http/added-headers.ts';
import { BodyTakenError } from '../../http/body.ts';
import { OF_THE_BODY } from '../replaced-body.ts';
import {
  BearerError,
  bearerErrorResponse,
  type AuthorizationServer,
  type ProtectedRoutes,
} from '../../index.ts';

export type { Mountable } from '../fetch/index.ts';

/**
 * Returns the endpoints as Hono middleware.
 *
 * Add it at the root of the application, after the session middleware. Add it before the CSRF
 * check, which would reject requests from other applications.
 *
 * Host methods receive Hono's context. The response contains the cookies of the endpoint and of the
 * context.
 *
 * @example
 * app.use(portico(server, mcp));
 */
export function portico(
  server: AuthorizationServer,
  ...more: readonly Mountable[]
): MiddlewareHandler {
  const handle = createHandler(server, ...more);
  return async (c, next) => {
    const response = await handle(readRequest(c), c);
    if (response === null) await next();
    else answer(c, response);
  };
}

/**
 * This property of a BearerError contains the response body that an error handler created from the
 * error, for example Hono's default handler. The symbol is global, so two copies of this module use
 * the same property.
 */
const TAKEN = Symbol.for('portico.hono.response_taken');

/** Returns false if other code has replaced or compressed the body from the error. */
function hasTakenBody(
  response: Response,
  error: BearerError & { readonly [TAKEN]?: Response['body'] },
): boolean {
  return response.body !== null && response.body === error[TAKEN];
}

/** Hono calls this method of an error. Without it, Hono would print the error and its stack. */
Object.defineProperty(BearerError.prototype, 'getResponse', {
  // This module may be loaded again during development.
  configurable: true,
  value(this: BearerError & { [TAKEN]?: Response['body'] }) {
    const response = bearerErrorResponse(this);
    this[TAKEN] = response.body;
    return response;
  },
});

/**
 * Makes `token()` available in the handlers that follow. Responds with 401 or 403 if `token()`
 * rejects a request, and with 503 or 500 if the token cannot be looked up. With several resources,
 * pass one: `bearer(server.resource(url))`.
 *
 * If `token()` rejects a request, Hono first calls your `onError` with a BearerError. Hono sends
 * the response of `onError` if it has the status of the error. `onError` can also throw.
 *
 * @example
 * app.use('/api/*', bearer(server));
 */
export function bearer(server: ProtectedRoutes): MiddlewareHandler {
  return async (c, next) => {
    const found = await server.lookUpToken(
      c.req.header('Authorization') ?? null,
      () => c.req.raw,
      c,
    );
    if ('failure' in found) return answer(c, found.failure);
    await found.run(next).catch((error: unknown) => {
      if (!(c.error instanceof BearerError)) throw error;
    });
    if (!(c.error instanceof BearerError)) return;
    const refusal = bearerErrorResponse(c.error);
    if (!c.finalized || c.res.status !== refusal.status) return answer(c, refusal);
    // These headers describe the earlier body. The error handler has not removed them.
    const stale = hasTakenBody(c.res, c.error)
      ? OF_THE_BODY.filter((name) => name !== 'content-type')
      : [];
    for (const name of ['content-length', ...stale]) c.header(name, undefined);
  };
}

/**
 * Returns an error handler that responds if `token()` rejects a request. Passes all other errors to
 * your handler.
 *
 * Without a handler, throws other errors again. In a sub-application, this leaves them to the main
 * application.
 *
 * @example
 * app.onError(bearerErrors((error, c) => c.text('Something went wrong', 500)));
 */
export function bearerErrors(otherwise?: ErrorHandler): ErrorHandler {
  return (error, c) => {
    const refusal = error instanceof BearerError ? bearerErrorResponse(error) : null;
    if (refusal !== null) return addedTo(c, refusal);
    if (otherwise === undefined) throw error;
    return otherwise(error, c);
  };
}

/**
 * Adds the response's headers to the context's. If both have the same header, Hono would keep only
 * one value.
 */
function addedTo(c: Context, refusal: Response): Response {
  for (const name of OF_THE_BODY) c.header(name, undefined);
  const headers = new Headers(refusal.headers);
  for (const [name, value] of refusal.headers) {
    if (!isAdded(name, refusal)) continue;
    c.header(name, value, { append: true });
    headers.delete(name);
  }
  return c.newResponse(refusal.body, new Response(null, { status: refusal.status, headers }));
}

/**
 * Responds with the headers of the response and of the context. Otherwise, Hono would drop cookies.
 */
function answer(c: Context, response: Response): void {
  const headers = new Headers(c.res.headers);
  for (const name of OF_THE_BODY) headers.delete(name);
  for (const [name, value] of response.headers) {
    if (name === 'set-cookie' || isAdded(name, response)) headers.append(name, value);
    else headers.set(name, value);
  }
  c.res = undefined;
  c.res = new Response(response.body, { status: response.status, headers });
}

/** Returns the request with its body, even if other code has read the body. */
function readRequest({ req }: Context): Request {
  const { raw } = req;
  if (!raw.bodyUsed) return raw;
  const { url, method, headers, signal } = raw;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      controller.enqueue(await readBytes(req));
      controller.close();
    },
  });
  const init = { method, headers, signal, body, duplex: 'half' };
  return new Request(url, init);
}

/** Returns the bytes of the body. If Hono's `formData()` has read a form, serializes it again. */
async function readBytes(req: Context['req']): Promise<Uint8Array> {
  const [kept] = Object.keys(req.bodyCache);
  if (kept === undefined) throw new BodyTakenError('c.req.raw', 'c.req');
  if (kept !== 'formData') return new Uint8Array(await req.arrayBuffer());
  const form = new URLSearchParams();
  for (const [name, value] of await req.formData())
    if (typeof value === 'string') form.append(name, value);
  return new TextEncoder().encode(form.toString());
}
