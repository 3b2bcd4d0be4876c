import { Server as NetServer, type AddressInfo, type Socket } from 'node:net';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Application } from 'portico';
import { newRequestId, throttleLog, withRequestId } from 'portico/extension';
import { getRequestListener, RequestError } from '@hono/node-server';

/** An HTTP server that is running an application. */
export interface RunningServer {
  /** The URL of the server, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /**
   * The port on which the server listens. If you passed port 0, this is the port that the operating
   * system chose.
   */
  readonly port: number;
  /**
   * Stops accepting connections, waits at most ten seconds for running requests, and closes the
   * server. The application stays open.
   */
  close(): Promise<void>;
}

/** Where the server listens. */
export interface ListenOptions {
  /** The port number, or 0 to let the operating system choose a free port. */
  readonly port: number;
  /**
   * The address to listen on. `127.0.0.1` accepts only connections from this machine, and `0.0.0.0`
   * accepts connections on all network interfaces.
   */
  readonly hostname: string;
}

const GRACE = 10_000;
/**
 * How long idle connections stay open when the server closes, in milliseconds. If the server closed
 * them immediately, a request that a client is just sending would be lost.
 */
const LAST_REQUESTS = 100;

/**
 * How long a connection may be idle, in milliseconds. Longer than the defaults of these proxies:
 * Caddy (120 seconds), Traefik (90), nginx and AWS load balancers (60). Otherwise, a proxy could
 * send a request on a connection that the server is closing, and answer 502.
 */
const LONGEST_IDLE = 125_000;

/**
 * Matches a `Host` header: a host with an optional port (RFC 9110 section 7.2, RFC 3986 section
 * 3.2.2).
 */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/**
 * Serves an application over HTTP. Rejects if it cannot listen, for example because another process
 * uses the port.
 *
 * @example
 * const server = await listen(application, { port: 8080, hostname: '127.0.0.1' });
 */
export async function listen(
  application: Application,
  { port, hostname }: ListenOptions,
): Promise<RunningServer> {
  const answer = getRequestListener(
    (request, { incoming }) => {
      // Check the host first, because a host that contains a path would change the path of the
      // request's URL.
      if (!HOST.test(incoming.headers.host ?? ''))
        return notARequest(new RequestError('The Host header is not valid'));
      // Also reject a host such as `.1`. It passes the first check, but is not a valid host in a
      // URL.
      if (!URL.canParse(request.url))
        return notARequest(new RequestError('The Host header is not valid'));
      const address = incoming.socket.remoteAddress ?? null;
      return application.fetch(request, { address, target: incoming.url ?? '/' });
    },
    // Use the public host for requests without a Host header. HTTP/1.0 allows such requests, and
    // load balancers send them as probes.
    { errorHandler: notARequest, hostname: new URL(application.publicUrl).host },
  );
  let isClosing = false;
  /** The last response of each connection. The earlier ones must not close the connection. */
  const last = new Map<Socket, ServerResponse>();
  const server = createServer({ keepAliveTimeout: LONGEST_IDLE }, (incoming, outgoing) => {
    if (isClosing) outgoing.shouldKeepAlive = false;
    last.set(incoming.socket, outgoing);
    void answer(incoming, outgoing);
  });
  server.on('connection', (socket) => socket.once('close', () => last.delete(socket)));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, hostname, () => {
      server.off('error', reject);
      resolve();
    });
  });
  logErrors(server, application);
  const address = server.address() as AddressInfo;
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${host}:${address.port}`,
    port: address.port,
    close() {
      // Ask clients to send their next requests on new connections. Otherwise, a proxy could keep a
      // connection busy until it is closed during a request.
      isClosing = true;
      for (const outgoing of last.values()) outgoing.shouldKeepAlive = false;
      return close(server);
    },
  };
}

/**
 * Returns the error response for a request that the application cannot receive, because its target
 * and `Host` header do not form a URL (400). Also answers unexpected errors (500).
 */
function notARequest(error: unknown): Response {
  const [status, text] =
    error instanceof RequestError ? [400, 'Bad request'] : [500, 'Internal server error'];
  const response = Response.json({ error: text }, { status });
  return withRequestId(response, newRequestId());
}

/**
 * Logs errors of a server that is listening. Node emits an error if it cannot accept a connection,
 * for example because too many files are open. The server continues to listen.
 */
function logErrors(server: Server, { log }: Application): void {
  let latest: Error | null = null;
  const logLatest = throttleLog((times) =>
    log.error('The server could not accept a connection: {exception} ({times})', {
      exception: latest,
      times,
    }),
  );
  server.on('error', (error) => {
    latest = error;
    logLatest();
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const idle = setTimeout(() => server.closeIdleConnections(), LAST_REQUESTS);
    const forced = setTimeout(() => server.closeAllConnections(), GRACE);
    // Only stop listening. The method of the HTTP server would also close the idle connections now.
    NetServer.prototype.close.call(server, () => {
      clearTimeout(idle);
      clearTimeout(forced);
      // End the timer of the HTTP server.
      server.close();
      resolve();
    });
    // `shouldKeepAlive` has no effect on a response that has already begun. So close its connection
    // soon after the response.
    server.keepAliveTimeout = 1;
  });
}
