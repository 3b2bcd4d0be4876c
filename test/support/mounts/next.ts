import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { mcpServerOf } from '@portico/mcp';
import { portico, type RouteHandlers } from 'portico/next';
import { send } from 'portico/node';
import { authorizationServerOf } from 'portico';
import { definePlain } from '../plain-host.ts';
import { closing, orders, prepared, type Mount } from './application.ts';

/**
 * Returns a request as Next's server creates it: a standard Request whose signal is aborted when
 * the caller disconnects.
 */
function requestOf(incoming: IncomingMessage, outgoing: ServerResponse, origin: string): Request {
  const left = new AbortController();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) left.abort();
  });
  const { method = 'GET', url = '/' } = incoming;
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(incoming.headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const body = hasBody
    ? { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: 'half' }
    : {};
  return new Request(new URL(url, origin), {
    method,
    headers,
    signal: left.signal,
    ...body,
  } as RequestInit);
}

/**
 * The route handlers of `portico/next` without Next, for the soak tests. The application in
 * `examples/next` runs the contract tests.
 */
export const NEXT: Mount = {
  name: 'Next',
  normalises: true,
  parsesJson: false,
  start(extra = {}, options = {}) {
    const host = definePlain();
    return prepared(
      { extra, options },
      (users, signers) => host.define(users, signers),
      async (application, users, port) => {
        const started = async () =>
          [authorizationServerOf(application), mcpServerOf(application)] as const;
        const { handlers, withToken } = portico(started, application.publicUrl);
        const route = (request: Request): Promise<Response> => {
          const { pathname } = new URL(request.url);
          if (/^\/(?:oauth|\.well-known|mcp)(?:\/|$)/.test(pathname))
            return handlers[request.method as keyof RouteHandlers](request);
          if (pathname === '/api/orders')
            return withToken(request, async () => Response.json(orders()));
          return host.answer(users, request);
        };
        const answer = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
          const request = requestOf(incoming, outgoing, application.publicUrl);
          const cookie = host.begin(request, incoming.headers.cookie ?? '');
          const response = await route(request);
          if (cookie !== null) outgoing.setHeader('Set-Cookie', cookie);
          await send(response, outgoing, request.method === 'HEAD');
        };
        const http = createServer((incoming, outgoing) => void answer(incoming, outgoing));
        http.listen(port, '127.0.0.1');
        await once(http, 'listening');
        return closing(http);
      },
    );
  },
};
