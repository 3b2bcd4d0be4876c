/**
 * The percent-decoded values of a path's placeholders, by name. The path `/api/articles/{id}` has
 * the parameter `id`.
 */
export type RouteParameters = Readonly<Record<string, string>>;

/** Answers a request. Receives the values of the placeholders by name: `({ id }) => ...`. */
export type RouteHandler = (
  parameters: RouteParameters,
  request: Request,
) => Response | Promise<Response>;

/** The HTTP method of a route. HEAD is handled like GET, but without a body. */
export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** A route of the application. Its name is unique. It can have several methods. */
export interface Route {
  /** The name, such as `api.notes.index`. Use it in `path()` and in `csrf_exempt_routes`. */
  readonly name: string;
  /** The methods that the route handles. A request with another method gets a 405 response. */
  readonly methods: readonly HttpMethod[];
  /** Set it if the route answers its methods with 405. `Allow` then does not list them. */
  readonly refusesMethods?: true;
  /**
   * The absolute path. A segment can be a placeholder in braces: `/api/articles/{id}`.
   */
  readonly path: string;
  /**
   * Set it for a route that the application may replace. This route is skipped if another route has
   * the same name, or the same path with any method. It is also skipped if another route answers
   * this path and one of the methods through placeholders.
   */
  readonly yields?: true;
  /**
   * Set it if the route does not use the session. The CSRF check of the session then skips it,
   * unless `csrf_exempt_routes` maps its name to false.
   */
  readonly readsNoSession?: true;
  /**
   * Handles requests. In an application of the kit, a listener of `Event.EXCEPTION` can answer if
   * the handler throws. Otherwise, the response is 503 if the database is unavailable.
   * `ErrorHandler` determines the status for other errors.
   */
  readonly handler: RouteHandler;
}

/**
 * Runs around every route of the application, but not around routes of plugins or of the kit. The
 * first middleware is the outermost.
 */
export type Middleware = (request: Request, next: () => Promise<Response>) => Promise<Response>;
