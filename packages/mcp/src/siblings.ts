import { ConfigurationError } from '@portico/sql';
import type { AuthorizationServer } from 'portico';
import { CallLimit } from './call-limit.ts';

/** The MCP endpoints of an authorization server, and the objects that they share. */
export class Siblings {
  readonly #server: AuthorizationServer;
  /** The path of each endpoint. The keys are the endings of the endpoints' route names. */
  readonly #paths = new Map<string, string>();
  readonly #limits = new Map<number, CallLimit>();

  constructor(server: AuthorizationServer) {
    this.#server = server;
  }

  /**
   * Adds an endpoint. Throws a ConfigurationError if another endpoint already uses its path or its
   * route names.
   */
  add(path: string): void {
    const { endpoints, mountPath } = this.#server;
    const taken = endpoints.find((each) => each.path === `${mountPath}${path}`);
    if (taken !== undefined)
      throw refused(path, `is already the path of the endpoint ${taken.name}; choose another path`);
    const ending = routeEnding(path);
    const other = this.#paths.get(ending);
    if (other === path)
      throw refused(
        path,
        'is already the path of an MCP endpoint on this server; choose another path',
      );
    if (other !== undefined)
      throw refused(path, `differs from ${other} only in punctuation; rename one of them`);
    this.#paths.set(ending, path);
  }

  /** Returns the limit for messages per minute, which all endpoints share. */
  limit(perMinute: number): CallLimit {
    const limit = this.#limits.get(perMinute) ?? new CallLimit(perMinute, this.#server.clock);
    this.#limits.set(perMinute, limit);
    return limit;
  }
}

const known = new WeakMap<AuthorizationServer, Siblings>();

/** Returns the objects that the MCP endpoints of this server share. */
export function siblingsAt(server: AuthorizationServer): Siblings {
  const siblings = known.get(server) ?? new Siblings(server);
  known.set(server, siblings);
  return siblings;
}

/** Returns the ending of the route names of an additional endpoint. */
export function routeEnding(path: string): string {
  return path.replaceAll(/[^A-Za-z0-9]+/g, '_');
}

function refused(path: string, problem: string): ConfigurationError {
  return new ConfigurationError([{ key: `mcp:endpoints:${path}`, message: problem }]);
}
