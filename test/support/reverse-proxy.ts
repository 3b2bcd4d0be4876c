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
  /** Puts the caller's `Host` into `X-Forwarded-Host`. */
  readonly saysHost?: boolean;
  /** Sets `X-Forwarded-Proto`. */
  readonly proto?: string;
  /** Removes this request header. */
  readonly drops?: string;
  /** The address of this machine from which it connects. */
  readonly from?: string;
  /** Called with the headers of every request, as received. */
  readonly hears?: (headers: IncomingHttpHeaders) => void;
}

/** Routes to one application of several on one origin. */
export interface BasePathRule {
  readonly basePath: string;
  /** Whether the base path is removed from the forwarded path. */
  readonly strips: boolean;
  readonly port: number;
  /** Does not forward the well-known documents in front of the base path. */
  readonly withoutDocuments?: boolean;
}

export interface RunningProxy {
  readonly url: string;
  readonly port: number;
  /** The target of forwarded requests; 502 until it is set. */
  leadTo(port: number): void;
  /**
   * Forwards requests below a base path, and those for the well-known documents in front of it,
   * unchanged.
   */
  leadBelow(rule: BasePathRule): void;
  close(): Promise<void>;
}

/** A reverse proxy on a loopback port. */
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

/** A small server on a loopback port; with TLS when a key and certificate are given. */
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
