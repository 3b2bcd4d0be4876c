import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:http';
import type { Application } from 'portico';
import { newRequestId, withRequestId } from 'portico/extension';
import { getRequestListener, RequestError } from '@hono/node-server';

/** An application that listens for requests. */
export interface RunningServer {
  /** The URL on which it listens, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** The actual port, also when 0 was requested. */
  readonly port: number;
  /**
   * Stops accepting connections, lets running requests finish (at most ten seconds), then closes.
   * The application stays open.
   */
  close(): Promise<void>;
}

/** Where to listen. */
export interface ListenOptions {
  /** 0 for any free port. */
  readonly port: number;
  /**
   * The network interface's address: `127.0.0.1` for this machine only, `0.0.0.0` for all
   * interfaces.
   */
  readonly hostname: string;
}

const GRACE = 10_000;

/** Serves an application over HTTP. Rejects when the port is taken. */
export async function listen(
  application: Application,
  { port, hostname }: ListenOptions,
): Promise<RunningServer> {
  const answer = getRequestListener(
    (request, { incoming }) => {
      // For example `Host: .1`. A URL parser reads it as a number, and no earlier check rejects it.
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
 * Returns the response for a request whose request line and `Host` do not form a URL. In this case,
 * there is no Request to pass to the application.
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
    // Idle keep-alive connections would keep the server open.
    server.closeIdleConnections();
  });
}
