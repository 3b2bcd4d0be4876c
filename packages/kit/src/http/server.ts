import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:http';
import type { Application } from 'portico';
import { newRequestId, withRequestId } from 'portico/extension';
import { getRequestListener, RequestError } from '@hono/node-server';

/** An application that listens. */
export interface RunningServer {
  /** Where it listens, such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** The port that was free, when 0 was asked for. */
  readonly port: number;
  /** Stops accepting, lets the requests in flight finish (ten seconds at most), then closes. Leaves the application open. */
  close(): Promise<void>;
}

/** Where to listen. */
export interface ListenOptions {
  /** 0 for any free port. */
  readonly port: number;
  /** The address of an interface: `127.0.0.1` for this machine alone, `0.0.0.0` for all. */
  readonly hostname: string;
}

const GRACE = 10_000;

/** Serves an application over HTTP. Rejects when the port is taken. */
export async function listen(
  application: Pick<Application, 'fetch'>,
  { port, hostname }: ListenOptions,
): Promise<RunningServer> {
  const answer = getRequestListener(
    (request, { incoming }) => {
      // Such as that of `Host: .1`, which is a number to a parser of URLs, and nothing else has looked at.
      if (!URL.canParse(request.url)) return notARequest(new RequestError('The Host makes no URL'));
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

/** For a request line and a `Host` that make no URL: there is no Request to give to the application. */
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
    // Idle keep-alive connections would hold the server open.
    server.closeIdleConnections();
  });
}
