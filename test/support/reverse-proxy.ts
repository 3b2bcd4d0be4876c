import {
  createServer,
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** How a reverse proxy passes requests on; what is not said is left as it came. */
export interface ProxyOptions {
  /** Appends whom it was asked by to `X-Forwarded-For`; an address of its own choice when it is a text. */
  readonly appends?: boolean | string;
  /** Takes away what the caller said in `X-Forwarded-For` before. */
  readonly forgets?: boolean;
  /** The `Host` that it sends on, in the place of the caller's. */
  readonly host?: string;
  /** What it says in `X-Forwarded-Proto`. */
  readonly proto?: string;
  /** Drops this header of requests. */
  readonly drops?: string;
  /** Is told the headers of every request as they came. */
  readonly hears?: (headers: IncomingHttpHeaders) => void;
}

export interface RunningProxy {
  readonly url: string;
  readonly port: number;
  /** Where it leads to; nowhere before, which is 502. */
  leadTo(port: number): void;
  close(): Promise<void>;
}

/** A reverse proxy on a loopback port. */
export async function startProxy(options: ProxyOptions = {}): Promise<RunningProxy> {
  let target: number | null = null;
  const running = await startServer((incoming, outgoing) => {
    if (target === null) outgoing.writeHead(502).end('nothing is here');
    else passOn(options, target, incoming, outgoing);
  });
  return { ...running, leadTo: (port) => (target = port) };
}

function passOn(
  options: ProxyOptions,
  port: number,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): void {
  options.hears?.(incoming.headers);
  const headers = { ...incoming.headers };
  const { appends = false, forgets = false, host, proto, drops } = options;
  if (forgets) delete headers['x-forwarded-for'];
  if (appends !== false) {
    const caller = appends === true ? (incoming.socket.remoteAddress ?? '') : appends;
    headers['x-forwarded-for'] = [headers['x-forwarded-for'], caller].filter(Boolean).join(', ');
  }
  if (host !== undefined) headers.host = host;
  if (proto !== undefined) headers['x-forwarded-proto'] = proto;
  if (drops !== undefined) delete headers[drops];
  const { method, url: path } = incoming;
  const onward = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  onward.on('error', () => outgoing.writeHead(502).end());
  incoming.pipe(onward);
}

/** A server of a few lines on a loopback port; by TLS when it is given a key and its certificate. */
export async function startServer(
  answer: RequestListener,
  tls?: { readonly key: string; readonly cert: string },
): Promise<Omit<RunningProxy, 'leadTo'>> {
  const server = tls === undefined ? createServer(answer) : createTlsServer(tls, answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
