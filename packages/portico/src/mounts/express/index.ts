/** Portico in an Express application, 4 or 5. What Express 4 is rejected with ends the process: all of it is given to `next`. */
import type { ErrorRequestHandler, Request as ExpressRequest, RequestHandler } from 'express';
import { MountedEndpoints, type Mountable } from '../fetch/dispatch.ts';
import { authorizationOf } from '../../http/bearer.ts';
import { answerDispatched, headersOnly, incomingOf, send } from '../node/mount.ts';
import { BearerError, bearerErrorResponse, type AuthorizationServer } from '../../index.ts';

export type { Mountable } from '../fetch/dispatch.ts';

/**
 * The endpoints as middleware: `app.use(portico(server, mcp))`, at the root of the application, behind its session and
 * before its own CSRF check, which would refuse what other applications send. Body parsers may stand before it. The endpoints
 * are below `base_path`, but for the documents in front of it, which are missing when it is mounted below a path.
 */
export function portico(server: AuthorizationServer, ...more: readonly Mountable[]): RequestHandler {
  const mounted = new MountedEndpoints([server, ...more]);
  return (req, res, next) => {
    const target = req.originalUrl;
    const endpoint = mounted.dispatch(req.method, target);
    if (endpoint === null) {
      next();
      return;
    }
    const asked = { incoming: req, outgoing: res, target, parsed: req.body as unknown };
    answerDispatched(endpoint, asked, server.origin).then(undefined, next);
  };
}

/** Gives the handlers behind it `token()`: `app.use('/api', bearer(server))`. It refuses nothing by itself. */
export function bearer(server: AuthorizationServer): RequestHandler {
  return (req, res, next) => {
    const lookUp = async () => {
      const asked = () => headersOnly(req, server.origin);
      const found = await server.lookUpToken(authorizationOf(req), asked, req);
      if ('failure' in found) await send(found.failure, res, false);
      else found.run(next);
    };
    lookUp().then(undefined, next);
  };
}

/** Answers what `token()` refuses with 401 or 403; before the application's own error handler. */
export function bearerErrors(): ErrorRequestHandler {
  return (error: unknown, req, res, next) => {
    if (!(error instanceof BearerError) || res.headersSent) next(error);
    else send(bearerErrorResponse(error), res, req.method === 'HEAD').then(undefined, next);
  };
}

/** Express's request behind one that the host contract is given: for `req.session` and `req.user`. Throws for another. */
export function expressRequest(request: Request): ExpressRequest {
  const incoming = incomingOf(request);
  if (incoming === null)
    throw new Error('The request did not come through portico(server) of portico/express');
  return incoming as ExpressRequest;
}
