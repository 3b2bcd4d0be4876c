import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished, Readable } from 'node:stream';
import type { ReadableStream as NodeStream } from 'node:stream/web';
import { isAdded } from '../../http/added-headers.ts';
import { readBodyText } from '../../http/body-text.ts';
import { BodyTakenError, MOST_DISCARDED } from '../../http/body.ts';
import { readMediaType } from '../../http/media-types.ts';
import { messages, noteRequestLine } from '../../http/request-line.ts';
import { isLiteralTarget } from '../../http/request-target.ts';
import { OF_THE_BODY } from '../../http/replaced-body.ts';
import { nameRequest, requestIdFor, withRequestId } from '../../http/request-id.ts';
import type { Dispatched } from '../fetch/dispatch.ts';

/**
 * Returns the framework's request for a request that an endpoint or a host method receives, so that
 * you can use `req.session`. Returns null if the request did not come through this mount.
 */
export function incomingOf(request: Request): IncomingMessage | null {
  return messages.of(request) ?? null;
}

/** A request and its response as Node's objects. */
export interface Incoming {
  /** Node's request. */
  readonly incoming: IncomingMessage;
  /** Node's response. Nothing has been written to it yet. */
  readonly outgoing: ServerResponse;
  /** The path and query as the client sent them. It begins with `/`. */
  readonly target: string;
  /** The body that the host's parser has parsed. Undefined if no parser has read it. */
  readonly parsed: unknown;
}

/**
 * Returns the request for the endpoints. Its origin is always the origin of `public_url`, even with
 * `X-Forwarded-…` headers. If the host's parser has read the body, the body is serialized again.
 * The request aborts when the caller disconnects.
 */
export function requestFrom(
  { incoming, outgoing, target, parsed }: Incoming,
  origin: string,
): Request {
  const method = incoming.method ?? 'GET';
  const headers = copyHeaders(incoming);
  const left = new AbortController();
  outgoing.once('close', () => {
    if (outgoing.writableFinished) discard(parsed instanceof Readable ? parsed : incoming);
    else left.abort();
  });
  const withBody = method !== 'GET' && method !== 'HEAD';
  const body = withBody ? createBody(incoming, headers, parsed) : null;
  const request = new Request(`${origin}${target}`, {
    method,
    headers,
    signal: left.signal,
    ...(body === null ? {} : { body, duplex: 'half' }),
  });
  // Remember the original target, because the URL does not contain it any more and a router may use
  // it.
  if (!isLiteralTarget(target)) noteRequestLine(request, { method, target });
  return linked(incoming, request);
}

/**
 * Returns a request that has only headers, for host handlers, host methods and the log. It has no
 * path and no body. `target` is the path and query as the client sent them. The caller's proof must
 * match `target`.
 */
export function headersOnly(
  incoming: IncomingMessage,
  origin: string,
  target: string = getTarget(incoming),
): Request {
  const request = linked(incoming, new Request(origin, { headers: copyHeaders(incoming) }));
  noteRequestLine(request, { method: incoming.method ?? 'GET', target });
  return request;
}

/**
 * Returns the original target of the request. If a framework shortens `url` below a prefix, it
 * stores the original in `originalUrl`.
 */
function getTarget(incoming: IncomingMessage & { readonly originalUrl?: unknown }): string {
  const { originalUrl, url = '' } = incoming;
  return typeof originalUrl === 'string' ? originalUrl : url;
}

function linked(incoming: IncomingMessage, request: Request): Request {
  messages.set(request, incoming);
  return nameRequest(request, requestIdOfIncoming(incoming));
}

/** Returns the id of a framework's request. */
export function requestIdOfIncoming(incoming: IncomingMessage): string {
  return requestIdFor(incoming, incoming.headers['x-request-id']);
}

/** Returns the response with its request's id. */
export function answerTo(incoming: IncomingMessage, response: Response): Response {
  return withRequestId(response, requestIdOfIncoming(incoming));
}

function copyHeaders(incoming: IncomingMessage): Headers {
  const headers = new Headers();
  for (let index = 0; index < incoming.rawHeaders.length; index += 2) {
    const [name = '', value = ''] = incoming.rawHeaders.slice(index, index + 2);
    // Skip pseudo-headers of HTTP/2, because a Request cannot contain them.
    if (!name.startsWith(':')) headers.append(name, value);
  }
  return headers;
}

function createBody(incoming: IncomingMessage, headers: Headers, parsed: unknown): BodyInit | null {
  if (parsed instanceof Readable) return unread(parsed);
  if (!incoming.readableDidRead) return unread(incoming);
  if (parsed === undefined) return hasBody(incoming) ? taken() : null;
  if (typeof parsed === 'string' || parsed instanceof Uint8Array) return parsed as BodyInit;
  try {
    if (readMediaType(headers.get('content-type')) !== 'application/x-www-form-urlencoded')
      return JSON.stringify(parsed);
    const form = new URLSearchParams();
    addFields(form, '', parsed);
    return form.toString();
  } catch {
    // The body is nested too deeply to be serialized. The endpoint rejects the empty body instead.
    return '';
  }
}

/** Whether the request has a body (RFC 9112 section 6.3). */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Returns a body for a request whose body other code has already read. Reading it fails with an
 * error that explains this.
 */
function taken(): ReadableStream {
  return new ReadableStream({
    start: (controller) =>
      controller.error(new BodyTakenError('the request', "the request's body")),
  });
}

/**
 * Returns a body that has not been read yet. Cancelling it does not close the connection: if the
 * body is too large, the response must still reach the sender.
 */
function unread(source: Readable): ReadableStream<Uint8Array> {
  let cancelled = false;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      source.on('data', (chunk: Uint8Array) => {
        // After the body is discarded, no code reads from it any more. If it were paused, it would
        // stop permanently.
        if (discarding.has(source)) return;
        controller.enqueue(chunk);
        if ((controller.desiredSize ?? 0) <= 0) source.pause();
      });
      source.pause();
      finished(source, { writable: false }, (error) => {
        if (cancelled) return;
        if (error === undefined || error === null) controller.close();
        else controller.error(error);
      });
    },
    pull() {
      source.resume();
    },
    cancel() {
      cancelled = true;
      discard(source);
    },
  });
}

/**
 * Bodies that Portico reads only to reach the next request on the same connection. It reads at most
 * `MOST_DISCARDED` bytes.
 */
const discarding = new WeakSet<Readable>();

function discard(source: Readable): void {
  if (source.readableEnded || source.destroyed || discarding.has(source)) return;
  discarding.add(source);
  let discarded = 0;
  source.on('data', (chunk: Uint8Array) => {
    discarded += chunk.byteLength;
    if (discarded > MOST_DISCARDED) source.destroy();
  });
  source.resume();
}

/**
 * Undoes the host's parsing of a form. A list becomes a repeated field. An object becomes fields
 * with brackets in their names. A list with one element also becomes a field with brackets, because
 * a parser creates that list from `a[]=1`, and not from the field `a`.
 */
function addFields(form: URLSearchParams, name: string, value: unknown): void {
  if (Array.isArray(value)) {
    const field = value.length === 1 ? `${name}[]` : name;
    for (const each of value as readonly unknown[]) addFields(form, field, each);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, each] of Object.entries(value))
      addFields(form, name === '' ? key : `${name}[${key}]`, each);
  } else if (name !== '') {
    form.append(
      name,
      typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value),
    );
  }
}

/** Sends a Response. Adds its `Set-Cookie` headers to the ones that the framework has set. */
export async function send(
  response: Response,
  outgoing: ServerResponse,
  head: boolean,
): Promise<void> {
  outgoing.statusCode = response.status;
  // Remove only headers that are set. If you remove a Transfer-Encoding that is not set, Node
  // closes the connection after the response.
  for (const name of OF_THE_BODY) if (outgoing.hasHeader(name)) outgoing.removeHeader(name);
  for (const [name, value] of response.headers) {
    if (isAdded(name, response)) outgoing.appendHeader(name, value);
    else if (name !== 'set-cookie') outgoing.setHeader(name, value);
  }
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) outgoing.appendHeader('set-cookie', cookies);
  const text = readBodyText(response);
  if (text !== null && !head) {
    outgoing.end(text);
    return;
  }
  if (response.body === null || head) {
    outgoing.end();
    return;
  }
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
    // Send the body in one piece. The framework saves its session when the response ends.
    outgoing.end(Buffer.from(await response.arrayBuffer()));
    return;
  }
  const stream = Readable.fromWeb(response.body as unknown as NodeStream);
  outgoing.once('close', () => stream.destroy());
  stream.on('error', () => outgoing.destroy());
  stream.pipe(outgoing);
}

/**
 * Answers a request to an endpoint's path on Node's response. Host methods receive Node's request,
 * with the properties that the framework has added. Rejects only if sending the response fails.
 */
export async function answerDispatched(
  dispatched: NonNullable<Dispatched>,
  asked: Incoming,
  origin: string,
): Promise<void> {
  const response =
    'refuse' in dispatched
      ? dispatched.refuse(requestIdOfIncoming(asked.incoming))
      : await dispatched.handle(requestFrom(asked, origin), asked.incoming);
  await send(answerTo(asked.incoming, response), asked.outgoing, asked.incoming.method === 'HEAD');
}
