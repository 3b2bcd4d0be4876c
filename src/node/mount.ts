import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream as NodeStream } from 'node:stream/web';
import type { Endpoint } from '../oauth-server/index.ts';

/** What brings endpoints: an AuthorizationServer, an McpServer. */
export interface Mountable {
  readonly endpoints: readonly Endpoint[];
}

const messages = new WeakMap<Request, IncomingMessage>();

/**
 * The framework's own request behind one that an endpoint, or the host contract, is given: for `req.session` and the like.
 * Null for a request that came another way.
 */
export function incomingOf(request: Request): IncomingMessage | null {
  return messages.get(request) ?? null;
}

/** The endpoint of a path and method; the methods it would have when only the method is wrong; null for another path. */
export function createDispatcher(mounted: readonly Mountable[]) {
  const endpoints = mounted.flatMap((each) => each.endpoints);
  return (method: string, path: string): Endpoint | { readonly allow: string } | null => {
    const onPath = endpoints.filter((endpoint) => endpoint.path === path);
    if (onPath.length === 0) return null;
    const asked = method === 'HEAD' ? 'GET' : method;
    const found = onPath.find(({ methods }) => methods.some((each) => each === asked));
    return found ?? { allow: onPath.flatMap(({ methods }) => methods).join(', ') };
  };
}

/**
 * The request as the endpoints see it. Its origin is the issuer and nothing else: what a proxy says in `X-Forwarded-…`
 * changes nothing. A body that the host's own parser has read is put together again.
 */
export function requestFrom(
  incoming: IncomingMessage,
  target: string,
  origin: string,
  parsed: unknown,
): Request {
  const method = incoming.method ?? 'GET';
  const headers = new Headers();
  for (let index = 0; index < incoming.rawHeaders.length; index += 2) {
    const [name = '', value = ''] = incoming.rawHeaders.slice(index, index + 2);
    // Of HTTP/2's own; they are no headers of a Request.
    if (!name.startsWith(':')) headers.append(name, value);
  }
  const withBody = method !== 'GET' && method !== 'HEAD';
  const body = withBody ? bodyOf(incoming, headers, parsed) : null;
  const request = new Request(new URL(target, origin), {
    method,
    headers,
    ...(body === null ? {} : { body, duplex: 'half' }),
  });
  messages.set(request, incoming);
  return request;
}

function bodyOf(incoming: IncomingMessage, headers: Headers, parsed: unknown): BodyInit | null {
  if (parsed === undefined || (!incoming.readableEnded && !incoming.complete)) {
    return Readable.toWeb(incoming) as unknown as BodyInit;
  }
  if (typeof parsed === 'string' || parsed instanceof Uint8Array) return parsed as BodyInit;
  const mediaType = (headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (mediaType !== 'application/x-www-form-urlencoded') return JSON.stringify(parsed);
  const form = new URLSearchParams();
  addFields(form, '', parsed);
  return form.toString();
}

/** A list was a repeated field, a map one with brackets in its name. */
function addFields(form: URLSearchParams, name: string, value: unknown): void {
  if (Array.isArray(value)) {
    for (const each of value as readonly unknown[]) addFields(form, name, each);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, each] of Object.entries(value))
      addFields(form, name === '' ? key : `${name}[${key}]`, each);
  } else if (name !== '') {
    form.append(name, typeof value === 'string' ? value : JSON.stringify(value ?? ''));
  }
}

/** Sends a Response; its `Set-Cookie` beside those that the framework has set. */
export async function send(response: Response, outgoing: ServerResponse, head: boolean): Promise<void> {
  outgoing.statusCode = response.status;
  for (const [name, value] of response.headers) if (name !== 'set-cookie') outgoing.setHeader(name, value);
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) outgoing.appendHeader('set-cookie', cookies);
  if (response.body === null || head) {
    outgoing.end();
    return;
  }
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
    // In one piece: the framework's session is saved when the answer ends.
    outgoing.end(Buffer.from(await response.arrayBuffer()));
    return;
  }
  const stream = Readable.fromWeb(response.body as unknown as NodeStream);
  outgoing.once('close', () => stream.destroy());
  stream.on('error', () => outgoing.destroy());
  stream.pipe(outgoing);
}

export function methodNotAllowed(allow: string): Response {
  return Response.json({ error: 'invalid_request' }, { status: 405, headers: { Allow: allow } });
}
