import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:http';
import type { Application } from 'portico';
import { newRequestId, withRequestId } from 'portico/extension';
import { getRequestListener, RequestError } from '@hono/node-server';

/** An application that listens for requests. */
export interface RunningServer {
  /** The URL of the server, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /**
   * The port on which the server listens. If you asked for port 0, this is the port that the system
   * has chosen.
   */
  readonly port: number;
  /**
   * Stops accepting connections, lets running requests finish for at most ten seconds, and closes
   * the server. The application stays open.
   */
  close(): Promise<void>;
}

/** Where to listen. */
export interface ListenOptions {
  /** The port, or 0 for any free port. */
  readonly port: number;
  /**
   * The address of the network interface. `127.0.0.1` accepts connections only from this machine,
   * and `0.0.0.0` accepts connections from all interfaces.
   */
  readonly hostname: string;
}

const GRACE = 10_000;

/** Matches a host with an optional port (RFC 9110 section 7.2, RFC 3986 section 3.2.2). */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** Serves an application over HTTP. Rejects if another process uses the port. */
export async function listen(
  application: Application,
  { port, hostname }: ListenOptions,
): Promise<RunningServer> {
  const answer = getRequestListener(
    (request, { incoming }) => {
      // Check the host first. A host with a path would change the path of the request's URL.
      if (!HOST.test(incoming.headers.host ?? ''))
        return notARequest(new RequestError('The Host header is not valid'));
      // A host such as `.1` passes the earlier checks, but a URL parser reads it as a number.
      if (!URL.canParse(request.url))
        return notARequest(new RequestError('The Host header is not valid'));
      const address = incoming.socket.remoteAddress ?? null;
      return application.fetch(request, { address, target: incoming.url ?? '/' });
    },
    { errorHandler: notARequest },
  );
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, hostname, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address() as AddressInfo;
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return { url: `http://${host}:${address.port}`, port: address.port, close: () => close(server) };
}

/**
 * Returns the response if a request's target and `Host` do not form a URL. In that case, there is
 * no Request to pass to the application.
 */
function notARequest(error: unknown): Response {
  const [status, text] =
    error instanceof RequestError ? [400, 'Bad request'] : [500, 'Internal server error'];
  const response = Response.json({ error: text }, { status });
  return withRequestId(response, newRequestId());
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const forced = setTimeout(() => server.closeAllConnections(), GRACE);
    server.close(() => {
      clearTimeout(forced);
      resolve();
    });
    // Close idle keep-alive connections, because they would keep the server open.
    server.closeIdleConnections();
  });
}
