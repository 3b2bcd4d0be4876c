/** Portico in an application on `node:http`. */
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

/** Call these functions in your `node:http` request listener. */
export interface NodeMount {
  /**
   * Answers a request to one of the endpoints and returns true. For any other request, returns
   * false and leaves the request untouched. Rejects only if sending the response fails.
   */
  handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<boolean>;
  /**
   * Makes `token()` work in a handler. If `token()` refuses the request, sends the 401 or 403
   * response. Rejects with any other error from the handler. If the server has several resources,
   * pass one of them: `server.resource(url)`.
   */
  withToken(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    handler: () => Promise<void>,
    at?: ProtectedRoutes,
  ): Promise<void>;
}

/** Mounts the endpoints of the server and of `more`, for example an McpServer. */
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
