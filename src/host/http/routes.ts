import { TrieRouter } from 'hono/router/trie-router';
import type { Route, RouteParameters } from '../contracts.ts';
import { HttpError } from '../errors.ts';

/** The route that answers a request, with its placeholders' values. */
export interface MatchedRoute {
  readonly route: Route;
  readonly parameters: RouteParameters;
}

export interface Routes {
  /** Throws when the name, or one of its methods on the path, is taken. */
  add(route: Route): void;
  has(name: string): boolean;
  /** Whether a route answers the path, by whatever method. */
  answers(path: string): boolean;
  /** The path of a named route as browsers ask for it, placeholders filled and percent-encoded. */
  path(name: string, parameters?: RouteParameters): string;
  /** Throws an HttpError: 404 when no route has the path, 405 when one has it for other methods only. */
  match(method: string, path: string): MatchedRoute;
}

/** A path is asked for by a method that none of its routes has. */
export class MethodError extends HttpError {
  /** The name of a route on that path. */
  readonly route: string;

  /** `headers` name the methods that it has. */
  constructor(route: string, headers: Readonly<Record<string, string>>) {
    super(405, 'No route of this path has the method', headers);
    this.route = route;
  }
}

const PLACEHOLDER = /\{([A-Za-z_]\w*)\}/g;

/** `removed` is what a proxy takes away from the paths of requests before they arrive. */
export function createRoutes(removed: string): Routes {
  const router = new TrieRouter<Route>();
  const routes = new Map<string, Route>();
  const taken = new Map<string, string>();
  /** Matches of paths without placeholders, by path and then method, remembered: at most one for each route and method. */
  const found = new Map<string, Map<string, MatchedRoute>>();
  const methods = new Set<string>();

  function find(method: string, path: string): MatchedRoute | null {
    const [matches] = router.match(method, path);
    const [route, raw] = matches[0] ?? [];
    if (route === undefined) return null;
    const parameters = decode(raw as Record<string, string>);
    return parameters === null ? null : { route, parameters };
  }

  return {
    add(route) {
      if (routes.has(route.name)) throw new Error(`Two routes are named '${route.name}'`);
      if (!route.path.startsWith('/'))
        throw new Error(`The path of the route '${route.name}' must begin with /`);
      for (const method of route.methods) {
        const place = `${method} ${route.path.replaceAll(PLACEHOLDER, '{}')}`;
        const other = taken.get(place);
        if (other !== undefined)
          throw new Error(`The routes '${other}' and '${route.name}' both answer ${place}`);
        taken.set(place, route.name);
        methods.add(method);
        router.add(method, route.path.replaceAll(PLACEHOLDER, ':$1'), route);
      }
      routes.set(route.name, route);
    },
    has: (name) => routes.has(name),
    answers: (path) => [...methods].some((method) => find(method, path) !== null),
    path(name, parameters = {}) {
      const route = routes.get(name);
      if (route === undefined) throw new Error(`No route is named '${name}'`);
      const path = route.path.replaceAll(PLACEHOLDER, (_, key: string) => {
        const value = parameters[key];
        if (value === undefined) throw new Error(`The route '${name}' needs a value for {${key}}`);
        return encodeURIComponent(value);
      });
      return `${removed}${path}`;
    },
    match(method, path) {
      const known = found.get(path)?.get(method);
      if (known !== undefined) return known;
      const matched = find(method, path) ?? (method === 'HEAD' ? find('GET', path) : null);
      if (matched !== null) {
        if (matched.route.path === path) {
          const onPath = found.get(path) ?? new Map<string, MatchedRoute>();
          found.set(path, onPath.set(method, { ...matched, parameters: Object.freeze({}) }));
        }
        return matched;
      }
      const onPath = [...methods].filter((other) => find(other, path) !== null);
      if (onPath.length === 0) throw new HttpError(404, 'No route matches');
      const allowed = onPath.filter((other) => find(other, path)?.route.refusesMethods !== true);
      if (allowed.includes('GET')) allowed.push('HEAD');
      const refusing = onPath.map((other) => find(other, path)?.route.name ?? '');
      throw new MethodError(refusing[0] ?? '', { Allow: allowed.join(', ') });
    },
  };
}

function decode(raw: Readonly<Record<string, string>>): RouteParameters | null {
  try {
    return Object.fromEntries(Object.entries(raw).map(([key, value]) => [key, decodeURIComponent(value)]));
  } catch {
    return null;
  }
}
