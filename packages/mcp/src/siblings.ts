import { ConfigurationError } from '@portico/sql';
import type { AuthorizationServer } from 'portico';
import { CallLimit } from './call-limit.ts';

/** The MCP endpoints of one authorization server, and what they share. */
export class Siblings {
  readonly #server: AuthorizationServer;
  /** The endpoints' paths, by what their route names end in. */
  readonly #paths = new Map<string, string>();
  readonly #limits = new Map<number, CallLimit>();

  constructor(server: AuthorizationServer) {
    this.#server = server;
  }

  /**
   * Adds an endpoint. Throws a ConfigurationError if another endpoint has its path, or route names
   * that cannot be told apart from its own.
   */
  add(path: string): void {
    const { endpoints, mountPath } = this.#server;
    const taken = endpoints.find((each) => each.path === `${mountPath}${path}`);
    if (taken !== undefined) throw refused(path, `is the path of the endpoint ${taken.name}`);
    const ending = routeEnding(path);
    const other = this.#paths.get(ending);
    if (other === path)
      throw refused(path, 'has an MCP endpoint on this server already; give this one another path');
    if (other !== undefined)
      throw refused(path, `differs from ${other} only in punctuation; rename one of them`);
    this.#paths.set(ending, path);
  }

  /** Returns the limit of messages per minute that all endpoints count together. */
  limit(perMinute: number): CallLimit {
    const limit = this.#limits.get(perMinute) ?? new CallLimit(perMinute, this.#server.clock);
    this.#limits.set(perMinute, limit);
    return limit;
  }
}

const known = new WeakMap<AuthorizationServer, Siblings>();

/** Returns what the MCP endpoints of this server share. */
export function siblingsAt(server: AuthorizationServer): Siblings {
  const siblings = known.get(server) ?? new Siblings(server);
  known.set(server, siblings);
  return siblings;
}

/** Returns what the names of a further endpoint's routes end in. */
export function routeEnding(path: string): string {
  return path.replaceAll(/[^A-Za-z0-9]+/g, '_');
}

function refused(path: string, problem: string): ConfigurationError {
  return new ConfigurationError([{ key: `mcp:endpoints:${path}`, message: problem }]);
}
