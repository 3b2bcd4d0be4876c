/** Portico in whatever answers a `Request` with a `Response`: the foundation of the mounts of the frameworks. */
import { requestIdOf, withRequestId } from '../../http/request-id.ts';
import { pathOf } from '../../http/request-target.ts';
import { MountedEndpoints, type Mountable } from './dispatch.ts';

export type { Mountable } from './dispatch.ts';

/**
 * Answers a request to one of the endpoints; null for any other, whose body is left unread. Never rejects. `context` is the
 * framework's own request or context, which every member of the host contract is given.
 */
export type FetchHandler<Context = unknown> = (
  request: Request,
  context?: Context,
) => Promise<Response | null>;

/**
 * The endpoints of the server, and of what else is given, such as an McpServer, as one function. A path matches as it stands in
 * the request's URL. HEAD is answered as GET, without the body, and a method that a path does not have with 405.
 */
export function createHandler<Context = unknown>(
  server: Mountable,
  ...more: readonly Mountable[]
): FetchHandler<Context> {
  const mounted = new MountedEndpoints([server, ...more]);
  return async (request, context) => {
    const dispatched = mounted.dispatch(request.method, pathOf(request.url));
    if (dispatched === null) return null;
    const response =
      'refuse' in dispatched
        ? withRequestId(dispatched.refuse(requestIdOf(request)), requestIdOf(request))
        : await dispatched.handle(request, context);
    return request.method === 'HEAD' ? withoutBody(response) : response;
  };
}

function withoutBody({ status, statusText, headers }: Response): Response {
  return new Response(null, { status, statusText, headers });
}
