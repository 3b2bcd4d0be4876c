/** Portico in a Next application: the App Router, on Node.js. */
import { createHandler, type FetchHandler, type Mountable } from '../fetch/index.ts';
import { noteRequestLine } from '../../http/request-line.ts';
import type { AuthorizationServer } from '../../index.ts';

export type { Mountable } from '../fetch/index.ts';

/** A route handler of Next. */
export type RouteHandler = (request: Request) => Promise<Response>;

/** One for every method that Next supports. */
export type RouteHandlers = Readonly<
  Record<'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS', RouteHandler>
>;

/** What the application's own routes use. */
export interface NextMount {
  /**
   * `export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlers`, in a route that
   * catches all paths below it.
   */
  readonly handlers: RouteHandlers;
  /** The server. It starts on first use. */
  readonly server: () => Promise<AuthorizationServer>;
  /**
   * Runs code in which `token()` works. In a route handler, pass the request; refusals of `token()`
   * are answered with 401 or 403. In a server function or a page, pass `await headers()`: it
   * returns what the work returns, and throws refusals of `token()` as a `BearerError`. Headers do
   * not contain the request's method and URL, so tokens that are bound to a key (RFC 9449) are
   * refused there.
   */
  readonly withToken: WithToken;
}

/** See `NextMount.withToken`. */
export interface WithToken {
  (request: Request, work: () => Promise<Response>): Promise<Response>;
  <T>(headers: Headers, work: () => T | Promise<T>): Promise<T>;
}

/** The server first, then anything else to mount, such as an McpServer. */
export type Started = readonly [server: AuthorizationServer, ...more: Mountable[]];

interface Running {
  readonly server: AuthorizationServer;
  readonly handle: FetchHandler<Request>;
}

/** Headers contain neither, so no proof matches. */
const UNKNOWN = { method: '', target: '' } as const;

const STARTED = Symbol.for('portico/next');
/**
 * Next loads a module more than once into a process: for different kinds of routes, and again after
 * an edit.
 */
const processWide = globalThis as { [STARTED]?: Map<string, Promise<Running>> };

/**
 * The endpoints as route handlers. `start` is called once per process, at the first request,
 * because Next also loads routes while it builds. Two servers in one process need two names.
 */
export function portico(start: () => Promise<Started>, name = ''): NextMount {
  const started = (processWide[STARTED] ??= new Map());

  async function startNow(): Promise<Running> {
    const [server, ...more] = await start();
    return { server, handle: createHandler(server, ...more) };
  }

  async function running(): Promise<Running> {
    const found = started.get(name) ?? startNow();
    started.set(name, found);
    try {
      return await found;
    } catch (error) {
      // The next request tries again.
      if (started.get(name) === found) started.delete(name);
      throw error;
    }
  }

  // Both read the request first. This tells Next, which calls GET while it builds, that the answer
  // depends on the request.
  async function all(request: Request): Promise<Response> {
    const isAsked = request.url !== '';
    const answer = isAsked ? await (await running()).handle(request, request) : null;
    return answer ?? new Response(null, { status: 404 });
  }

  function withToken(request: Request, work: () => Promise<Response>): Promise<Response>;
  function withToken<T>(headers: Headers, work: () => T | Promise<T>): Promise<T>;
  async function withToken(from: Request | Headers, work: () => unknown): Promise<unknown> {
    const headers = from instanceof Request ? from.headers : from;
    const { server } = await running();
    if (from instanceof Request) return server.withToken(from, work as () => Promise<Response>, from);
    const asked = () => {
      const request = new Request(server.origin, { headers });
      noteRequestLine(request, UNKNOWN);
      return request;
    };
    const found = await server.lookUpToken(headers.get('authorization'), asked);
    if ('run' in found) return found.run(work);
    throw new Error(`The access token could not be looked up: ${found.failure.status}`);
  }

  return {
    handlers: { GET: all, HEAD: all, POST: all, PUT: all, PATCH: all, DELETE: all, OPTIONS: all },
    server: async () => (await running()).server,
    withToken,
  };
}
