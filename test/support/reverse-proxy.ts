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

/** How a reverse proxy forwards requests. By default, headers stay unchanged. */
export interface ProxyOptions {
  /** Appends the caller's address, or this text, to `X-Forwarded-For`. */
  readonly appends?: boolean | string;
  /** First removes the `X-Forwarded-For` that the caller sent. */
  readonly forgets?: boolean;
  /** Replaces the `Host` that the caller sent. */
  readonly host?: string;
  /** Copies the `Host` that the caller sent to `X-Forwarded-Host`. */
  readonly saysHost?: boolean;
  /** Sets `X-Forwarded-Proto`. */
  readonly proto?: string;
  /** Removes this request header. */
  readonly drops?: string;
  /** The address of this machine from which the proxy connects. */
  readonly from?: string;
  /** Called with the headers of every request, as the proxy received them. */
  readonly hears?: (headers: IncomingHttpHeaders) => void;
}

/** Forwards requests to one of several applications on the same origin. */
export interface BasePathRule {
  readonly basePath: string;
  /** Whether to remove the base path from the forwarded path. */
  readonly strips: boolean;
  readonly port: number;
  /** Whether to leave out the well-known documents in front of the base path. */
  readonly withoutDocuments?: boolean;
}

export interface RunningProxy {
  readonly url: string;
  readonly port: number;
  /** Sets where to forward requests. Until then, the proxy answers with 502. */
  leadTo(port: number): void;
  /**
   * Forwards requests below a base path, and requests for the well-known documents in front of it,
   * unchanged.
   */
  leadBelow(rule: BasePathRule): void;
  close(): Promise<void>;
}

/** Starts a reverse proxy on a loopback port. */
export async function startProxy(options: ProxyOptions = {}): Promise<RunningProxy> {
  let elsewhere: number | null = null;
  const rules: BasePathRule[] = [];
  const running = await startServer((incoming, outgoing) => {
    const asked = incoming.url ?? '/';
    const target =
      rules.map((rule) => targetOf(rule, asked)).find((found) => found !== null) ??
      (elsewhere === null ? null : { port: elsewhere, path: asked });
    if (target === null) outgoing.writeHead(502).end('nothing is here');
    else passOn(options, target, incoming, outgoing);
  });
  return {
    ...running,
    leadTo: (port) => (elsewhere = port),
    leadBelow: (rule) => rules.push(rule),
  };
}

interface Target {
  readonly port: number;
  readonly path: string;
}

function targetOf(
  { basePath, strips, port, withoutDocuments = false }: BasePathRule,
  path: string,
): Target | null {
  if (startsWithSegments(path, basePath)) {
    return { port, path: strips ? path.slice(basePath.length) || '/' : path };
  }
  if (withoutDocuments) return null;
  const [, described] = /^\/\.well-known\/[^/?]+(\/.*)$/.exec(path) ?? [];
  return described !== undefined && startsWithSegments(described, basePath) ? { port, path } : null;
}

function startsWithSegments(path: string, segments: string): boolean {
  return path.startsWith(segments) && ['', '/', '?'].includes(path.charAt(segments.length));
}

function passOn(
  options: ProxyOptions,
  { port, path }: Target,
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
  if (options.saysHost === true) headers['x-forwarded-host'] = incoming.headers.host;
  if (proto !== undefined) headers['x-forwarded-proto'] = proto;
  if (drops !== undefined) delete headers[drops];
  const { method } = incoming;
  const from = options.from === undefined ? {} : { localAddress: options.from };
  const onward = request({ host: '127.0.0.1', port, method, path, headers, ...from }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  onward.on('error', () => outgoing.writeHead(502).end());
  incoming.pipe(onward);
}

/** Starts a small server on a loopback port. If a key and a certificate are given, it uses TLS. */
export async function startServer(
  answer: RequestListener,
  tls?: { readonly key: string; readonly cert: string },
): Promise<Omit<RunningProxy, 'leadTo' | 'leadBelow'>> {
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
