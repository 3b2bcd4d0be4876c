/**
 * Portico for any server that answers a `Request` with a `Response`. The mounts of the frameworks
 * build on it.
 */
import { getRequestId, withRequestId } from '../../http/request-id.ts';
import { readPath } from '../../http/request-target.ts';
import { MountedEndpoints, type Mountable } from './dispatch.ts';

export type { Mountable } from './dispatch.ts';

/**
 * Answers a request to one of the endpoints. Null for any other request, whose body stays unread.
 * Never rejects. `context` is the framework's request or context, which every member of the host
 * contract receives.
 */
export type FetchHandler<Context = unknown> = (
  request: Request,
  context?: Context,
) => Promise<Response | null>;

/**
 * One function for the endpoints of the server, and of anything else that is given, such as an
 * McpServer. A path must match exactly as it is in the request's URL. HEAD is answered as GET
 * without the body, and a method that a path does not have with 405.
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
