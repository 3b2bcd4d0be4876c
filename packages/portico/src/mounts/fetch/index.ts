/**
 * Mounts Portico in any server that responds to a `Request` with a `Response`. Mounts for
 * frameworks build on this one.
 */
import { getRequestId, withRequestId } from '../../http/request-id.ts';
import { readPath } from '../../http/request-target.ts';
import { MountedEndpoints, type Mountable } from './dispatch.ts';

export type { Mountable } from './dispatch.ts';

/**
 * Responds to a request for one of the endpoints. For any other request, returns null without
 * reading the body. Never rejects. Host methods receive `context`, the framework's request or
 * context object.
 */
export type FetchHandler<Context = unknown> = (
  request: Request,
  context?: Context,
) => Promise<Response | null>;

/**
 * Returns one handler for all endpoints of `server` and of `more`, for example an McpServer.
 *
 * The request's path must match an endpoint's path exactly. A HEAD request gets the response to GET
 * without the body. If an endpoint does not support the method, the response is 405.
 *
 * @example
 * const handle = createHandler(server, mcp);
 * const response = (await handle(request)) ?? (await app(request));
 */
export function createHandler<Context = unknown>(
  server: Mountable,
  ...more: readonly Mountable[]
): FetchHandler<Context> {
  const mounted = new MountedEndpoints([server, ...more]);
  return async (request, context) => {
    const dispatched = mounted.dispatch(request.method, readPath(request.url));
    if (dispatched === null) return null;
    const response =
      'refuse' in dispatched
        ? withRequestId(dispatched.refuse(getRequestId(request)), getRequestId(request))
        : await dispatched.handle(request, context);
    return request.method === 'HEAD' ? withoutBody(response) : response;
  };
}

function withoutBody({ status, statusText, headers, body }: Response): Response {
  // An unread body keeps its source open, for example a file. So cancel it.
  body?.cancel().catch(() => undefined);
  return new Response(null, { status, statusText, headers });
}
