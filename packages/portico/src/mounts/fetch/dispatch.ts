import type { AuthorizationServer, Endpoint } from '../../index.ts';

type Log = AuthorizationServer['host']['log'];

/** A server that can be mounted: an AuthorizationServer or an McpServer. */
export interface Mountable {
  /** The endpoints of the server, each with its path and methods. */
  readonly endpoints: readonly Endpoint[];
  /** If the server seems to be mounted below a prefix, the host's log gets a warning. */
  readonly host?: { readonly log: Log };
  /** Called once, when Portico mounts the server. */
  mounted?(): void;
}

/** An endpoint exists at the path, but not for the method. */
export interface WrongMethod {
  /**
   * Logs the rejection. Returns a 405 response with the path's methods in `Allow` (RFC 9110 section
   * 15.5.6).
   */
  readonly refuse: (requestId: string) => Response;
}

/** The endpoint, or a function that rejects the method. Null if no endpoint has this path. */
export type Dispatched = Endpoint | WrongMethod | null;

/**
 * Finds the endpoint for a request. Compares paths with the request target exactly as the client
 * sent it, without an origin that the framework's router also removes. So the host's middleware and
 * guards for this path have seen the request.
 */
export class MountedEndpoints {
  readonly #endpoints: readonly Endpoint[];
  readonly #log: Log | undefined;
  /**
   * True if the warning is no longer needed: a request has reached an endpoint, the warning has
   * been logged, or there is no log.
   */
  #isPlaced: boolean;

  constructor(mounted: readonly Mountable[]) {
    this.#endpoints = mounted.flatMap((each) => each.endpoints);
    this.#log = mounted.find(({ host }) => host !== undefined)?.host?.log;
    this.#isPlaced = this.#log === undefined;
    for (const each of mounted) each.mounted?.();
  }

  dispatch(method: string, target: string): Dispatched {
    const [path = ''] = target.split('?', 1);
    const onPath = this.#endpoints.filter((endpoint) => endpoint.path === path);
    if (onPath.length === 0) {
      this.#warnOfPlace(path);
      return null;
    }
    this.#isPlaced = true;
    const asked = method === 'HEAD' ? 'GET' : method;
    const found = onPath.find(({ methods }) => methods.some((each) => each === asked));
    return found ?? { refuse: (requestId) => this.#refuse(onPath, requestId) };
  }

  /** Logs the warning about the prefix at most once. */
  #warnOfPlace(path: string): void {
    // A target in absolute form ends with the path of an endpoint even without a prefix.
    if (this.#isPlaced || !path.startsWith('/')) return;
    const meant = this.#endpoints.find((endpoint) => path.endsWith(endpoint.path));
    if (meant === undefined) return;
    this.#isPlaced = true;
    this.#log?.warning(
      'A request path ends with {path} but matches no endpoint. If portico() is mounted ' +
        'below a prefix, mount it at the root instead and set base_path to the prefix',
      { path: meant.path },
    );
  }

  #refuse(onPath: readonly Endpoint[], requestId: string): Response {
    const [{ name: endpoint } = { name: null }] = onPath;
    const detail = 'the endpoint at this path does not accept the method of the request';
    const refused = { endpoint, requestId, error: 405, detail, clientId: null, address: null };
    this.#log?.info('{endpoint} refused: {error} ({detail})', refused);
    const offered = onPath.filter(({ refusesMethods }) => refusesMethods !== true);
    const allowed: string[] = offered.flatMap(({ methods }) => methods);
    if (allowed.includes('GET')) allowed.push('HEAD');
    // Caches may store a 405 response (RFC 9110 section 15.5.6), so forbid it.
    const headers = { Allow: allowed.join(', '), 'Cache-Control': 'no-store' };
    return Response.json({ error: 'invalid_request' }, { status: 405, headers });
  }
}
