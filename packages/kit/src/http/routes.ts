import type { Route, RouteParameters } from 'portico';
import { HttpError } from '../errors.ts';
import { TrieRouter } from 'hono/router/trie-router';

/**
 * The kind of a route determines how the kit treats it. Plugin routes limit their request bodies
 * themselves. For application routes, the kit limits the bodies and runs the middlewares. The
 * sign-in form checks its CSRF token itself, so that it can show a page if the token is missing.
 */
export type RouteKind = 'plugin' | 'application' | 'sign-in';

/** The route that matches a request, with the values of its placeholders. */
export interface MatchedRoute {
  readonly route: Route;
  readonly kind: RouteKind;
  readonly parameters: RouteParameters;
}

/** Thrown if a route has the requested path, but no route supports the method. */
export class MethodError extends HttpError {
  /** The name of a route that has the requested path. */
  readonly route: string;

  /** `headers` contains `Allow`, with the methods that the path supports. */
  constructor(route: string, headers: Readonly<Record<string, string>>) {
    super(405, 'This path does not support the method', headers);
    this.route = route;
  }
}

const PLACEHOLDER = /\{([A-Za-z_]\w*)\}/g;
/** Matches a segment with a placeholder and other text, for which the router has no pattern. */
const PART = /.\{[A-Za-z_]\w*\}|\{[A-Za-z_]\w*\}./;

const NOT_ASCII = /[^ -~]+/g;

/** All routes of an application. */
export class Routes {
  readonly #removed: string;
  readonly #router = new TrieRouter<Omit<MatchedRoute, 'parameters'>>();
  readonly #routes = new Map<string, Route>();
  /** The names of the routes, keyed by method and path. */
  readonly #taken = new Map<string, string>();
  /**
   * The cache of matches by path and method. It contains only routes without placeholders, so it
   * has at most one entry for each route and method.
   */
  readonly #found = new Map<string, Map<string, MatchedRoute>>();
  readonly #methods = new Set<string>();

  /** `removed` is the path prefix that a proxy removes from request paths. */
  constructor(removed: string) {
    this.#removed = removed;
  }

  /** Adds a route. Throws if another route has the same name, or the same path and method. */
  add(route: Route, kind: RouteKind = 'plugin'): void {
    if (this.#routes.has(route.name))
      throw new Error(`Two routes have the name '${route.name}'; rename one`);
    if (!route.path.startsWith('/'))
      throw new Error(`The path of the route '${route.name}' must begin with /`);
    if (route.path.split('/').some((segment) => PART.test(segment)))
      throw new Error(
        `The path of the route '${route.name}' is ${route.path}, but a placeholder must be a ` +
          'whole segment, such as /items/{id}',
      );
    const path = asSent(route.path);
    for (const method of route.methods) {
      const place = `${method} ${path.replaceAll(PLACEHOLDER, '{}')}`;
      const other = this.#taken.get(place);
      if (other !== undefined)
        throw new Error(`The routes '${other}' and '${route.name}' have the same path: ${place}`);
      this.#taken.set(place, route.name);
      this.#methods.add(method);
      this.#router.add(method, path.replaceAll(PLACEHOLDER, ':$1'), { route, kind });
    }
    this.#routes.set(route.name, route);
  }

  has(name: string): boolean {
    return this.#routes.has(name);
  }

  /**
   * Whether another route has this route's path, with any method, or has placeholders and answers
   * this path and one of the methods.
   */
  answers({ path, methods }: Route): boolean {
    return (
      [...this.#routes.values()].some((route) => route.path === path) ||
      methods.some((method) => this.#find(method, asSent(path)) !== null)
    );
  }

  /**
   * Returns the path of a named route, as browsers request it. Replaces the path's placeholders
   * with percent-encoded values.
   */
  path(name: string, parameters: RouteParameters = {}): string {
    const route = this.#routes.get(name);
    if (route === undefined) throw new Error(`There is no route '${name}'`);
    const path = asSent(route.path).replaceAll(PLACEHOLDER, (_, key: string) => {
      const value = parameters[key];
      if (value === undefined) throw new Error(`The route '${name}' needs a value for {${key}}`);
      return encodeURIComponent(value);
    });
    return `${this.#removed}${path}`;
  }

  /**
   * Returns the route for a request. If no route has the path, throws an HttpError 404. If no route
   * with the path supports the method, throws an HttpError 405.
   */
  match(method: string, path: string): MatchedRoute {
    const known = this.#found.get(path)?.get(method);
    if (known !== undefined) return known;
    const matched =
      this.#find(method, path) ?? (method === 'HEAD' ? this.#find('GET', path) : null);
    if (matched === null) throw this.#refusal(path);
    if (matched.route.path === path) {
      const onPath = this.#found.get(path) ?? new Map<string, MatchedRoute>();
      this.#found.set(path, onPath.set(method, { ...matched, parameters: Object.freeze({}) }));
    }
    return matched;
  }

  #find(method: string, path: string): MatchedRoute | null {
    const [matches] = this.#router.match(method, path);
    const [found, raw] = matches[0] ?? [];
    if (found === undefined) return null;
    const parameters = decode(raw as Record<string, string>);
    return parameters === null ? null : { ...found, parameters };
  }

  #refusal(path: string): HttpError {
    const onPath = [...this.#methods].flatMap((method) => {
      const route = this.#find(method, path)?.route;
      return route === undefined ? [] : [{ method, route }];
    });
    const [first] = onPath;
    if (first === undefined) return new HttpError(404, 'No route has this path');
    const allowed = onPath.flatMap(({ method, route }) =>
      route.refusesMethods === true ? [] : [method],
    );
    if (allowed.includes('GET')) allowed.push('HEAD');
    return new MethodError(first.route.name, { Allow: allowed.join(', ') });
  }
}

/** Returns the path of a route as browsers send it: they percent-encode these characters. */
const asSent = (path: string): string => path.replaceAll(NOT_ASCII, encodeURIComponent);

function decode(raw: Readonly<Record<string, string>>): RouteParameters | null {
  try {
    return Object.fromEntries(
      Object.entries(raw).map(([key, value]) => [key, decodeURIComponent(value)]),
    );
  } catch {
    return null;
  }
}
