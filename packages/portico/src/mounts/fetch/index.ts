/**
 * Portico for any server that answers a `Request` with a `Response`. The mounts for frameworks use
 * this mount.
 */
import { getRequestId, withRequestId } from '../../http/request-id.ts';
import { readPath } from '../../http/request-target.ts';
import { MountedEndpoints, type Mountable } from './dispatch.ts';

export type { Mountable } from './dispatch.ts';

/**
 * Answers a request to one of the endpoints. For any other request, returns null without reading
 * the body. Never rejects. `context` is the framework's request or context object. Portico passes
 * this object to every host method.
 */
export type FetchHandler<Context = unknown> = (
  request: Request,
  context?: Context,
) => Promise<Response | null>;

/**
 * Returns one handler for the endpoints of the server and of `more`, for example an McpServer.
 *
 * The path in the request's URL must match an endpoint's path exactly. A HEAD request gets the
 * response to GET without its body. A request with a method that the path does not support gets a
 * 405 response.
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

function withoutBody({ status, statusText, headers }: Response): Response {
  return new Response(null, { status, statusText, headers });
}
