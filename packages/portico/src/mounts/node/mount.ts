import type { IncomingMessage, ServerResponse } from 'node:http';
import { finished, Readable } from 'node:stream';
import type { ReadableStream as NodeStream } from 'node:stream/web';
import { replyingOf } from '../../endpoints/endpoint.ts';
import { BodyTakenError, MOST_DISCARDED } from '../../http/body.ts';
import { readMediaType } from '../../http/media-types.ts';
import { messages, noteRequestLine } from '../../http/request-line.ts';
import { isLiteralTarget, toOriginForm } from '../../http/request-target.ts';
import { OF_THE_BODY } from '../replaced-body.ts';
import { nameRequest, requestIdFor, withRequestId } from '../../http/request-id.ts';
import type { Dispatched } from '../fetch/dispatch.ts';
import { bytesOfChunk, incomingRequest, type SourceBody } from './incoming-request.ts';
import {
  answerFromReply,
  answerFromResponse,
  cancelBody,
  inOnePiece,
  type SentAnswer,
} from './sent-answer.ts';

/**
 * Returns Node's request for a request that an endpoint or a host method received. Use it to access
 * `req.session` or other properties that a framework has added. Returns null if the request did not
 * come through this mount.
 *
 * @example
 * signedIn: async (request) => referenceTo(sessionOf(incomingOf(request))),
 */
export function incomingOf(request: Request): IncomingMessage | null {
  return messages.of(request) ?? null;
}

/** A request and its response, as objects of Node. */
export interface Incoming {
  /** Node's request. */
  readonly incoming: IncomingMessage;
  /** Node's response, to which nothing has been written yet. */
  readonly outgoing: ServerResponse;
  /** The path and query as the client sent them. Starts with `/`. */
  readonly target: string;
  /** The body as the host's parser returned it. Undefined if no parser has read the body. */
  readonly parsed: unknown;
}

/**
 * Returns the request for the endpoints. Its origin is always the origin of `public_url`. Ignores
 * `X-Forwarded-…` headers. If the host's parser has read the body, serializes the parsed body. The
 * request aborts when the client disconnects.
 *
 * @example
 * const request = requestFrom({ incoming, outgoing, target, parsed: undefined }, server.origin);
 */
export function requestFrom(asked: Incoming, origin: string): Request {
  discardAtEnd(asked);
  const headers = headersOf(asked);
  return named(createRequest(asked, origin, headers, bodyOf(asked, headers)), asked);
}

/** Does the same as `requestFrom`, but creates the Request only when it is needed. */
function requestOnDemand(asked: Incoming, origin: string): Request {
  const { incoming } = asked;
  if (mayHaveBody(incoming)) {
    discardAtEnd(asked);
    // Start reading the body now. Otherwise, Node would discard the body itself, without the limit
    // that `discard` has.
    if (!incoming.readableDidRead) incoming.read(0);
  }
  const request = incomingRequest({
    incoming,
    headers: () => headersOf(asked),
    body: (headers) => bodyOf(asked, headers),
    request: (headers, body) => createRequest(asked, origin, headers, body),
  });
  return named(request, asked);
}

function createRequest(
  asked: Incoming,
  origin: string,
  headers: Headers,
  body: SourceBody,
): Request {
  const { incoming, outgoing, target } = asked;
  const left = new AbortController();
  const closed = () => {
    // For an HTTP/2 request that the client has reset, Node also sets `writableFinished`.
    if (!outgoing.writableEnded || !outgoing.writableFinished) left.abort();
  };
  if (isClosed(outgoing)) closed();
  else outgoing.once('close', closed);
  const init = body === null || !mayHaveBody(incoming) ? {} : bodyInit(body);
  const { method = 'GET' } = incoming;
  return new Request(`${origin}${target}`, { method, headers, signal: left.signal, ...init });
}

/** Whether the response has closed. Only the stream of an HTTP/2 response says so. */
function isClosed(outgoing: Closable): boolean {
  // Deno has no `closed`.
  return outgoing.stream?.closed ?? outgoing.closed ?? outgoing.destroyed;
}

interface Closable {
  readonly stream?: { readonly closed: boolean };
  readonly closed?: boolean;
  readonly destroyed: boolean;
}

function headersOf({ incoming, parsed }: Incoming): Headers {
  const headers = copyHeaders(incoming);
  // If the application has replaced the body with another stream, for example a decompressed one,
  // the declared length is wrong.
  if (parsed instanceof Readable && parsed !== incoming) headers.delete('content-length');
  return headers;
}

/** Links the request to the Node message from which it was created. */
function named(request: Request, { incoming, target }: Incoming): Request {
  // Keep the original target, because a DPoP proof must match it and the URL no longer contains it.
  if (!isLiteralTarget(target))
    noteRequestLine(request, { method: incoming.method ?? 'GET', target });
  return linked(incoming, request);
}

/**
 * Returns a request that has only headers, for host handlers, host methods and the log. It has no
 * path and no body. `target` is the path and query as the client sent them. A proof in the request
 * must match `target`.
 */
export function headersOnly(
  incoming: IncomingMessage,
  origin: string,
  target: string = getTarget(incoming),
): Request {
  const request = linked(incoming, new Request(origin, { headers: copyHeaders(incoming) }));
  noteRequestLine(request, {
    method: incoming.method ?? 'GET',
    target: toOriginForm(target),
  });
  return request;
}

/**
 * Returns the original target of the request. Some frameworks shorten `url` below a prefix and keep
 * the original in `originalUrl`.
 */
function getTarget(incoming: IncomingMessage & { readonly originalUrl?: unknown }): string {
  const { originalUrl, url = '' } = incoming;
  return typeof originalUrl === 'string' ? originalUrl : url;
}

function linked(incoming: IncomingMessage, request: Request): Request {
  messages.set(request, incoming);
  return nameRequest(request, requestIdOfIncoming(incoming));
}

/** Returns the id of the request. */
function requestIdOfIncoming(incoming: IncomingMessage): string {
  return requestIdFor(incoming, incoming.headers['x-request-id']);
}

/** Returns the response with the request's id in a header. */
export function answerTo(incoming: IncomingMessage, response: Response): Response {
  return withRequestId(response, requestIdOfIncoming(incoming));
}

function copyHeaders(incoming: IncomingMessage): Headers {
  const headers = new Headers();
  const fields = fieldsOf(incoming);
  for (let index = 0; index < fields.length; index += 2) {
    const [name = '', value = ''] = fields.slice(index, index + 2);
    // Skip HTTP/2 pseudo-headers, because a Request cannot contain them.
    if (!name.startsWith(':')) headers.append(name, value);
  }
  return headers;
}

/**
 * Returns the headers as a list: a name, its value, the next name, and so on. Requests from
 * adapters for serverless platforms, for example `serverless-http`, have their headers only in
 * `headers`.
 */
function fieldsOf({ rawHeaders, headers }: IncomingMessage): readonly string[] {
  if (rawHeaders.length > 0) return rawHeaders;
  return Object.entries(headers).flatMap(([name, value = []]) =>
    [value].flat().flatMap((each) => [name, each]),
  );
}

function mayHaveBody({ method }: IncomingMessage): boolean {
  return method !== 'GET' && method !== 'HEAD';
}

function bodyOf({ incoming, parsed }: Incoming, headers: Headers): SourceBody {
  if (!mayHaveBody(incoming)) return null;
  const unparsed = parsed instanceof Readable ? parsed : incoming;
  if (!unparsed.readableDidRead) return unparsed;
  if (parsed === undefined || parsed instanceof Readable)
    return hasBody(incoming) ? new BodyTakenError('the request', "the request's body") : null;
  if (typeof parsed === 'string' || parsed instanceof Uint8Array) return parsed;
  try {
    if (readMediaType(headers.get('content-type')) !== 'application/x-www-form-urlencoded')
      return JSON.stringify(parsed);
    const form = new URLSearchParams();
    addFields(form, '', parsed);
    return form.toString();
  } catch {
    // The body is nested too deeply to be serialized. Return an empty body, which the endpoint
    // rejects.
    return '';
  }
}

/** Returns options for a Request with this body. */
function bodyInit(body: NonNullable<SourceBody>): { readonly body: BodyInit } {
  if (typeof body === 'string' || body instanceof Uint8Array) return { body: body as BodyInit };
  const stream = body instanceof Readable ? unread(body) : failing(body);
  return Object.assign({ body: stream }, { duplex: 'half' });
}

/**
 * Whether the client has sent the body that other code has read (RFC 9112 section 6.3). HTTP/2
 * needs no header for a body (RFC 9113 section 8.1).
 */
function hasBody({ headers, httpVersionMajor }: IncomingMessage): boolean {
  if (headers['transfer-encoding'] !== undefined) return true;
  const length = headers['content-length'];
  return length === undefined ? httpVersionMajor > 1 : Number(length) > 0;
}

/** Returns a body that fails with this error when it is read. */
function failing(error: Error): ReadableStream {
  return new ReadableStream({ start: (controller) => controller.error(error) });
}

/**
 * Returns an unread body as a stream. Canceling the stream does not close the connection, so a
 * client whose body is too large still receives the response.
 */
function unread(source: Readable): ReadableStream<Uint8Array> {
  let cancelled = false;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      source.on('data', (chunk: Buffer | string) => {
        // Do not pause a discarded body. It would stay paused forever, because nothing reads it any
        // longer.
        if (discarding.has(source)) return;
        controller.enqueue(bytesOfChunk(chunk, source));
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
 * The bodies that nothing reads any longer. Portico still reads and discards up to `MOST_DISCARDED`
 * bytes of each body, to reach the next request on the connection.
 */
const discarding = new WeakSet<Readable>();

/** Reads and discards the rest of the body after the response. */
function discardAtEnd({ incoming, outgoing, parsed }: Incoming): void {
  outgoing.once('close', () => {
    if (outgoing.writableFinished) discard(parsed instanceof Readable ? parsed : incoming);
  });
}

function discard(source: Readable): void {
  if (source.readableEnded || source.destroyed || discarding.has(source)) return;
  discarding.add(source);
  let discarded = 0;
  source.on('data', ({ length }: Buffer | string) => {
    discarded += length;
    if (discarded > MOST_DISCARDED) source.destroy();
  });
  source.resume();
}

/**
 * Converts a parsed form back to fields. A list becomes a repeated field. An object becomes fields
 * with brackets in their names. A list with one element also becomes a field with brackets, because
 * parsers create such a list only from `a[]=1`.
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

/**
 * Sends a Response, without its body if `head` is true. Keeps the `Set-Cookie` headers that the
 * framework has set, and adds those of the Response.
 *
 * @example
 * await send(response, outgoing, incoming.method === 'HEAD');
 */
export async function send(
  response: Response,
  outgoing: ServerResponse,
  head: boolean,
): Promise<void> {
  await sendAnswer(answerFromResponse(response), outgoing, head);
}

async function sendAnswer(
  answer: SentAnswer,
  outgoing: ServerResponse,
  head: boolean,
): Promise<void> {
  if (head) cancelBody(answer);
  const { status, fields, cookies, body } = head ? answer : await inOnePiece(answer);
  outgoing.statusCode = status;
  // Remove only headers that are set. If you remove a Transfer-Encoding header that is not set,
  // Node closes the connection after the response.
  for (const name of OF_THE_BODY) if (outgoing.hasHeader(name)) outgoing.removeHeader(name);
  for (const { name, value, isAdded } of fields) {
    if (isAdded) outgoing.appendHeader(name, value);
    else outgoing.setHeader(name, value);
  }
  if (cookies.length > 0) outgoing.appendHeader('set-cookie', cookies);
  if (body === null || head) {
    outgoing.end();
    return;
  }
  // Send the body in one piece, because the framework saves the session when the response ends.
  if (!(body instanceof ReadableStream)) {
    outgoing.end(body);
    return;
  }
  const stream = Readable.fromWeb(body as NodeStream);
  outgoing.once('close', () => stream.destroy());
  stream.on('error', () => outgoing.destroy());
  stream.pipe(outgoing);
}

/**
 * Returns the endpoint's answer to a request. `context` is the framework's request or context
 * object.
 */
export async function answerOf(
  dispatched: NonNullable<Dispatched>,
  asked: Incoming,
  origin: string,
  context: unknown,
): Promise<SentAnswer> {
  const { incoming, parsed } = asked;
  // The stream may fail before the endpoint reads it. This failure must not end the process.
  if (parsed instanceof Readable) parsed.on('error', () => {});
  if ('refuse' in dispatched) {
    const refusal = dispatched.refuse(requestIdOfIncoming(incoming));
    return answerFromResponse(answerTo(incoming, refusal));
  }
  const reply = replyingOf(dispatched);
  if (reply !== null) return reply(requestOnDemand(asked, origin), context, answerFromReply);
  const response = await dispatched.handle(requestFrom(asked, origin), context);
  const answer = answerFromResponse(answerTo(incoming, response));
  // If the client has already left, nothing would ever read an event stream.
  if (!isClosed(asked.outgoing)) return answer;
  cancelBody(answer);
  return { ...answer, body: null };
}

/**
 * Responds through Node's response to a request for an endpoint's path. Host methods receive Node's
 * request, including the properties that the framework has added. Rejects only if sending the
 * response fails.
 */
export async function answerDispatched(
  dispatched: NonNullable<Dispatched>,
  asked: Incoming,
  origin: string,
): Promise<void> {
  const answer = await answerOf(dispatched, asked, origin, asked.incoming);
  await sendAnswer(answer, asked.outgoing, asked.incoming.method === 'HEAD');
}
