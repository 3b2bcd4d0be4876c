/**
 * The values of a path's placeholders, by name. They are percent-decoded. For example, the path
 * `/api/articles/{id}` has the parameter `id`.
 */
export type RouteParameters = Readonly<Record<string, string>>;

/**
 * A function that answers a request. It receives the values of the placeholders by name:
 * `({ id }) => ...`.
 */
export type RouteHandler = (
  parameters: RouteParameters,
  request: Request,
) => Response | Promise<Response>;

/** The HTTP method of a route. A HEAD request is handled like GET, but its response has no body. */
export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** A route of the application. Its name must be unique, and it can have several methods. */
export interface Route {
  /**
   * The name of the route, such as `api.notes.index`. Use it in `path()` and in
   * `csrf_exempt_routes`.
   */
  readonly name: string;
  /** The methods that the route handles. A request with another method gets a 405 response. */
  readonly methods: readonly HttpMethod[];
  /** If true, the route answers its methods with 405, so the header `Allow` does not list them. */
  readonly refusesMethods?: true;
  /**
   * The absolute path. A segment can be a placeholder in braces: `/api/articles/{id}`.
   */
  readonly path: string;
  /**
   * If true, this route is skipped when another route has the same name, has the same path with any
   * method, or answers this path and one of the methods through placeholders. Plugins use this
   * property for routes that the application may replace.
   */
  readonly yields?: true;
  /**
   * If true, the route does not use the session. The CSRF check of the session then skips the
   * route, unless `csrf_exempt_routes` maps its name to false.
   */
  readonly readsNoSession?: true;
  /**
   * Handles requests. In an application of the kit, a listener of `Event.EXCEPTION` can answer if
   * the handler throws. Otherwise, the response is 503 if the database is unavailable, and
   * `ErrorHandler` determines the status for all other errors.
   */
  readonly handler: RouteHandler;
}

/**
 * A function that runs around every route of the application, but not around routes of plugins or
 * of the kit. The first middleware is the outermost.
 */
export type Middleware = (request: Request, next: () => Promise<Response>) => Promise<Response>;
