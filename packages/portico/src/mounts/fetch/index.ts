/**
 * Portico for any server that answers a `Request` with a `Response`. The framework mounts build on
 * it.
 */
import { getRequestId, withRequestId } from '../../http/request-id.ts';
import { readPath } from '../../http/request-target.ts';
import { MountedEndpoints, type Mountable } from './dispatch.ts';

export type { Mountable } from './dispatch.ts';

/**
 * Answers a request to one of the endpoints. Returns null for any other request and does not read
 * its body. Never rejects. `context` is the framework's request or context. Every host method
 * receives it.
 */
export type FetchHandler<Context = unknown> = (
  request: Request,
  context?: Context,
) => Promise<Response | null>;

/**
 * Returns one function for the endpoints of the server and of `more`, such as an McpServer. The
 * path in the request's URL must match an endpoint's path exactly. HEAD requests get the GET
 * response without its body. Methods that a path does not have get a 405 response.
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
