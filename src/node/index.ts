/** Portico in an application on `node:http`. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { BearerError, bearerErrorResponse, type AuthorizationServer } from '../oauth-server/index.ts';
import { createDispatcher, methodNotAllowed, requestFrom, send, type Mountable } from './mount.ts';

export {
  createDispatcher,
  incomingOf,
  methodNotAllowed,
  requestFrom,
  send,
  type Mountable,
} from './mount.ts';

/** What a host on `node:http` calls in its request listener. */
export interface NodeMount {
  /** Answers a request to one of the endpoints; false for any other, which is untouched then. */
  handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<boolean>;
  /** Runs a handler with `token()` at hand, and answers what `token()` refuses. */
  withToken(incoming: IncomingMessage, outgoing: ServerResponse, handler: () => Promise<void>): Promise<void>;
}

/** Mounts the endpoints of the server, and of what else is given, such as an McpServer. */
export function portico(server: AuthorizationServer, ...more: readonly Mountable[]): NodeMount {
  const dispatch = createDispatcher([server, ...more]);
  const asRequest = (incoming: IncomingMessage) =>
    requestFrom(incoming, incoming.url ?? '/', server.issuer, undefined);
  return {
    async handle(incoming, outgoing) {
      const method = incoming.method ?? 'GET';
      const endpoint = dispatch(method, new URL(incoming.url ?? '/', server.issuer).pathname);
      if (endpoint === null) return false;
      const response =
        'allow' in endpoint ? methodNotAllowed(endpoint.allow) : await endpoint.handle(asRequest(incoming));
      await send(response, outgoing, method === 'HEAD');
      return true;
    },
    async withToken(incoming, outgoing, handler) {
      // Only the headers are looked at: the body is the handler's.
      const { url, headers } = asRequest(Object.assign(Object.create(incoming), { method: 'GET' }));
      const settled = await server.settleToken(new Request(url, { headers }));
      if ('failure' in settled) return send(settled.failure, outgoing, false);
      try {
        await settled.run(handler);
      } catch (error) {
        if (!(error instanceof BearerError)) throw error;
        await send(bearerErrorResponse(error), outgoing, false);
      }
    },
  };
}
