/** Mounts Portico in an application that uses `node:http`. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readAuthorization } from '../../http/bearer.ts';
import {
  BearerError,
  bearerErrorResponse,
  type AuthorizationServer,
  type ProtectedRoutes,
} from '../../index.ts';
import { MountedEndpoints, type Mountable } from '../fetch/dispatch.ts';
import { answerDispatched, headersOnly, send } from './mount.ts';

export type { Mountable } from '../fetch/dispatch.ts';
export { incomingOf, requestFrom, send, type Incoming } from './mount.ts';

/** Functions to call in your `node:http` request listener. */
export interface NodeMount {
  /**
   * Responds to a request for one of the endpoints and returns true. Does not touch any other
   * request and returns false. Rejects only if sending the response fails.
   */
  handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<boolean>;
  /**
   * Makes `token()` available in a handler. Sends a 401 or 403 response if `token()` rejects the
   * request. Sends a 503 or 500 response, and does not call the handler, if the token cannot be
   * looked up. Rejects with any other error of the handler. With several resources, pass one:
   * `server.resource(url)`.
   */
  withToken(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    handler: () => Promise<void>,
    at?: ProtectedRoutes,
  ): Promise<void>;
}

/**
 * Mounts the endpoints of `server` and of `more`, for example an McpServer.
 *
 * @example
 * const mount = portico(server, mcp);
 * createServer(async (incoming, outgoing) => {
 *   if (!(await mount.handle(incoming, outgoing))) await app(incoming, outgoing);
 * });
 */
export function portico(server: AuthorizationServer, ...more: readonly Mountable[]): NodeMount {
  const mounted = new MountedEndpoints([server, ...more]);
  return {
    async handle(incoming, outgoing) {
      const [method, target] = [incoming.method ?? 'GET', incoming.url ?? '/'];
      const endpoint = mounted.dispatch(method, target);
      if (endpoint === null) return false;
      const asked = { incoming, outgoing, target, parsed: undefined };
      await answerDispatched(endpoint, asked, server.origin);
      return true;
    },
    async withToken(incoming, outgoing, handler, at = server) {
      const found = await at.lookUpToken(
        readAuthorization(incoming),
        () => headersOnly(incoming, server.origin),
        incoming,
      );
      if ('failure' in found) return send(found.failure, outgoing, false);
      try {
        await found.run(handler);
      } catch (error) {
        if (!(error instanceof BearerError) || outgoing.headersSent) throw error;
        await send(bearerErrorResponse(error), outgoing, false);
      }
    },
  };
}
