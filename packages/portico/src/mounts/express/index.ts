/**
 * Mounts Portico in an Express 4 or 5 application. In Express 4, an unhandled rejection ends the
 * process, so every rejection goes to `next`.
 */
import type { ErrorRequestHandler, Request as ExpressRequest, RequestHandler } from 'express';
import { MountedEndpoints, type Mountable } from '../fetch/dispatch.ts';
import { readAuthorization } from '../../http/bearer.ts';
import { toOriginForm } from '../../http/request-target.ts';
import { answerDispatched, headersOnly, incomingOf, send } from '../node/mount.ts';
import {
  BearerError,
  bearerErrorResponse,
  type AuthorizationServer,
  type ProtectedRoutes,
} from '../../index.ts';

export type { Mountable } from '../fetch/dispatch.ts';

/**
 * Returns the endpoints as Express middleware.
 *
 * Add it at the root of the application, after the session middleware. Add it before the CSRF
 * check, which would reject requests from other applications. Body parsers can come before it.
 *
 * Do not mount it below a path. The endpoints' paths already include `base_path`, and some
 * documents are not below `base_path`.
 *
 * @example
 * app.use(portico(server, mcp));
 */
export function portico(
  server: AuthorizationServer,
  ...more: readonly Mountable[]
): RequestHandler {
  const mounted = new MountedEndpoints([server, ...more]);
  return (req, res, next) => {
    const target = toOriginForm(req.originalUrl);
    const endpoint = mounted.dispatch(req.method, target);
    if (endpoint === null) {
      next();
      return;
    }
    const asked = { incoming: req, outgoing: res, target, parsed: req.body as unknown };
    answerDispatched(endpoint, asked, server.origin).then(undefined, next);
  };
}

/**
 * Makes `token()` available in the handlers that follow. It rejects no request because of its
 * token. If the token cannot be looked up, it responds with 503 or 500. With several resources,
 * pass one: `bearer(server.resource(url))`.
 *
 * @example
 * app.use('/api', bearer(server));
 */
export function bearer(server: ProtectedRoutes): RequestHandler {
  return (req, res, next) => {
    const lookUp = async () => {
      const asked = () => headersOnly(req, server.origin);
      const found = await server.lookUpToken(readAuthorization(req), asked, req);
      if ('failure' in found) await send(found.failure, res, false);
      else found.run(next);
    };
    lookUp().then(undefined, next);
  };
}

/**
 * Returns an error handler that responds with 401 or 403 if `token()` rejects a request. Add it
 * before your own error handler.
 *
 * @example
 * app.use(bearerErrors());
 */
export function bearerErrors(): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    if (!(error instanceof BearerError) || res.headersSent) next(error);
    else send(bearerErrorResponse(error), res, req.method === 'HEAD').then(undefined, next);
  };
}

/**
 * Returns the Express request for a request that a host method received, for `req.session` and
 * `req.user`. Throws if the request did not come through Express.
 *
 * @example
 * signedIn: async (request) => referenceTo(expressRequest(request).user),
 */
export function expressRequest(request: Request): ExpressRequest {
  const incoming = incomingOf(request);
  if (incoming === null)
    throw new Error(
      'The request did not pass through the middleware portico(server) of portico/express',
    );
  return incoming as ExpressRequest;
}
