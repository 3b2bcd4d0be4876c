/** Mounts Portico in a Next application with the App Router on Node.js. */
import { createHandler, type FetchHandler, type Mountable } from '../fetch/index.ts';
import { noteRequestLine } from '../../http/request-line.ts';
import type { AuthorizationServer } from '../../index.ts';

export type { Mountable } from '../fetch/index.ts';

/** A Next route handler. */
export type RouteHandler = (request: Request) => Promise<Response>;

/** A route handler for each method that Next supports. */
export type RouteHandlers = Readonly<
  Record<'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS', RouteHandler>
>;

/** The route handlers and functions that `portico()` returns for the routes of an application. */
export interface NextMount {
  /**
   * The route handlers for the endpoints. Export them from a catch-all route:
   * `export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlers`.
   */
  readonly handlers: RouteHandlers;
  /** Returns the server. The first call starts it. */
  readonly server: () => Promise<AuthorizationServer>;
  /**
   * Makes `token()` available in the function that you pass. With several resources, also pass the
   * URL of one.
   *
   * - In a route handler, pass the request. The response is 401 or 403 if `token()` rejects the
   *   request, and 503 or 500 if the token cannot be looked up.
   * - In a server function or a page, pass `await headers()`. `withToken` returns the result of
   *   your function. It throws a `BearerError` if `token()` rejects the request, and another Error
   *   if the token cannot be looked up. Headers do not contain the method and URL, so bound tokens
   *   (RFC 9449) are always rejected there.
   */
  readonly withToken: WithToken;
}

/** See `NextMount.withToken`. */
export interface WithToken {
  (request: Request, work: () => Promise<Response>, resource?: string): Promise<Response>;
  <T>(headers: Headers, work: () => T | Promise<T>, resource?: string): Promise<T>;
}

/** The authorization server, then any other servers to mount, for example an McpServer. */
export type Started = readonly [server: AuthorizationServer, ...more: Mountable[]];

interface Running {
  readonly server: AuthorizationServer;
  readonly handle: FetchHandler<Request>;
}

/** The request line if only headers are known. It matches no DPoP proof. */
const UNKNOWN = { method: '', target: '' } as const;

const STARTED = Symbol.for('portico/next');
/**
 * The servers of this process. Next loads a module several times, for different kinds of routes and
 * after each edit, so the map is global.
 */
const processWide = globalThis as { [STARTED]?: Map<string, Promise<Running>> };

async function startOnce(start: () => Promise<Started>, name: string): Promise<Running> {
  const started = (processWide[STARTED] ??= new Map());
  const found = started.get(name) ?? startNow(start);
  started.set(name, found);
  try {
    return await found;
  } catch (error) {
    // Forget a server that failed to start, so the next request tries again.
    if (started.get(name) === found) started.delete(name);
    throw error;
  }
}

async function startNow(start: () => Promise<Started>): Promise<Running> {
  const [server, ...more] = await start();
  return { server, handle: createHandler(server, ...more) };
}

/**
 * Returns the endpoints as route handlers. Next also loads routes during a build, so only the first
 * request calls `start`, once per process. If `start` rejects, the next request calls it again.
 * Give two servers in one process different names.
 *
 * @example
 * export const { handlers, withToken } = portico(async () => [await startServer()]);
 */
export function portico(start: () => Promise<Started>, name = ''): NextMount {
  const running = () => startOnce(start, name);

  // Next calls GET during a build. Reading the request tells Next that the response depends on it.
  async function all(request: Request): Promise<Response> {
    const isAsked = request.url !== '';
    const answer = isAsked ? await (await running()).handle(request, request) : null;
    return answer ?? new Response(null, { status: 404 });
  }

  function withToken(
    request: Request,
    work: () => Promise<Response>,
    resource?: string,
  ): Promise<Response>;
  function withToken<T>(
    headers: Headers,
    work: () => T | Promise<T>,
    resource?: string,
  ): Promise<T>;
  async function withToken(
    from: Request | Headers,
    work: () => unknown,
    resource?: string,
  ): Promise<unknown> {
    const headers = from instanceof Request ? from.headers : from;
    const { server } = await running();
    const at = resource === undefined ? server : server.resource(resource);
    if (from instanceof Request) return at.withToken(from, work as () => Promise<Response>, from);
    const asked = () => {
      const request = new Request(server.origin, { headers });
      noteRequestLine(request, UNKNOWN);
      return request;
    };
    const found = await at.lookUpToken(headers.get('authorization'), asked);
    if ('run' in found) return found.run(work);
    throw new Error(`The access token could not be looked up: ${found.failure.status}`);
  }

  return {
    handlers: { GET: all, HEAD: all, POST: all, PUT: all, PATCH: all, DELETE: all, OPTIONS: all },
    server: async () => (await running()).server,
    withToken,
  };
}
