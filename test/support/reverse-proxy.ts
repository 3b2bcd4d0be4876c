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

/** How a reverse proxy forwards requests; headers are forwarded unchanged by default. */
export interface ProxyOptions {
  /** Appends the caller's address to `X-Forwarded-For`, or this text. */
  readonly appends?: boolean | string;
  /** Removes the caller's own `X-Forwarded-For` first. */
  readonly forgets?: boolean;
  /** Replaces the caller's `Host`. */
  readonly host?: string;
  /** Sets `X-Forwarded-Proto`. */
  readonly proto?: string;
  /** Removes this request header. */
  readonly drops?: string;
  /** Called with the headers of every request, as received. */
  readonly hears?: (headers: IncomingHttpHeaders) => void;
}

export interface RunningProxy {
  readonly url: string;
  readonly port: number;
  /** Where requests are forwarded to; 502 until it is set. */
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

/** A small server on a loopback port; with TLS when a key and certificate are given. */
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
