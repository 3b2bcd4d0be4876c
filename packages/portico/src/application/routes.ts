/**
 * The values of a path's placeholders by name, percent-decoded: `{ id }` for `/api/articles/{id}`.
 */
export type RouteParameters = Readonly<Record<string, string>>;

/** Answers a request. Receives the placeholders by name: `({ id }) => ...`. */
export type RouteHandler = (
  parameters: RouteParameters,
  request: Request,
) => Response | Promise<Response>;

/** An HTTP method of a route. A HEAD request runs as GET, and its response has no body. */
export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** A named route. The name is unique in the application. A route can have several methods. */
export interface Route {
  /** The route's name, such as `api.notes.index`. `path()` and `csrf_exempt_routes` use it. */
  readonly name: string;
  /** The methods that the route handles. A request with any other method gets a 405 response. */
  readonly methods: readonly HttpMethod[];
  /** If true, the route rejects its methods with 405, and the header `Allow` does not list them. */
  readonly refusesMethods?: true;
  /** An absolute path, with placeholders in braces: `/api/articles/{id}`. */
  readonly path: string;
  /**
   * If true, Portico skips this route when another route has the same path, with any method. Only
   * plugin routes can set this.
   */
  readonly yields?: true;
  /**
   * If true, the route does not read the session. The route then skips the session-wide CSRF check,
   * unless `csrf_exempt_routes` sets the route's name to false.
   */
  readonly readsNoSession?: true;
  /** Handles the request. `ErrorHandler` turns exceptions into responses. */
  readonly handler: RouteHandler;
}

/**
 * Wraps every application route. Does not wrap plugin routes. The first middleware is the
 * outermost.
 */
export type Middleware = (request: Request, next: () => Promise<Response>) => Promise<Response>;
