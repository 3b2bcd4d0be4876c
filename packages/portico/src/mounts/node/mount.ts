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
 * Returns Node's request for a request that an endpoint or a host method received. It has
 * `req.session` and the other properties of the framework. Returns null if the request did not come
 * through this mount.
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
  /** Node's response, still empty. */
  readonly outgoing: ServerResponse;
  /** The path and query as the client sent them. Starts with `/`. */
  readonly target: string;
  /** The body from the host's parser. Undefined if no parser has read it. */
  readonly parsed: unknown;
}

/**
 * Returns the request for the endpoints. Its origin is always that of `public_url`, and
 * `X-Forwarded-…` headers have no effect. If the host's parser has read the body, serializes it
 * again. The request aborts when the client disconnects.
 *
 * @example
 * const request = requestFrom({ incoming, outgoing, target, parsed: undefined }, server.origin);
 */
export function requestFrom(asked: Incoming, origin: string): Request {
  discardAtEnd(asked);
  const headers = headersOf(asked);
  return named(createRequest(asked, origin, headers, bodyOf(asked, headers)), asked);
}

/** Like `requestFrom`, but creates the Request when it is needed. */
function requestOnDemand(asked: Incoming, origin: string): Request {
  const { incoming } = asked;
  if (mayHaveBody(incoming)) {
    discardAtEnd(asked);
    // Start reading the body now. Otherwise, Node would discard it without the limit of `discard`.
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
    // Node also sets `writableFinished` for an HTTP/2 request that the client has reset.
    if (!outgoing.writableEnded || !outgoing.writableFinished) left.abort();
  };
  if (isClosed(outgoing)) closed();
  else outgoing.once('close', closed);
  const init = body === null || !mayHaveBody(incoming) ? {} : bodyInit(body);
  const { method = 'GET' } = incoming;
  return new Request(`${origin}${target}`, { method, headers, signal: left.signal, ...init });
}

/** Only the stream of an HTTP/2 response says that it has closed. */
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
  // The application may have replaced the body with another stream, for example a decompressed one.
  // The declared length is then wrong.
  if (parsed instanceof Readable && parsed !== incoming) headers.delete('content-length');
  return headers;
}

/** Links the request to its Node message. */
function named(request: Request, { incoming, target }: Incoming): Request {
  // A DPoP proof must match the original target, which the URL no longer contains.
  if (!isLiteralTarget(target))
    noteRequestLine(request, { method: incoming.method ?? 'GET', target });
  return linked(incoming, request);
}

/**
 * Returns a request with only headers, for host handlers, host methods and the log. It has no path
 * and no body. A proof in the request must match `target`, the path and query as the client sent
 * them.
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

/** Some frameworks shorten `url` below a prefix and keep the original in `originalUrl`. */
function getTarget(incoming: IncomingMessage & { readonly originalUrl?: unknown }): string {
  const { originalUrl, url = '' } = incoming;
  return typeof originalUrl === 'string' ? originalUrl : url;
}

function linked(incoming: IncomingMessage, request: Request): Request {
  messages.set(request, incoming);
  return nameRequest(request, requestIdOfIncoming(incoming));
}

function requestIdOfIncoming(incoming: IncomingMessage): string {
  return requestIdFor(incoming, incoming.headers['x-request-id']);
}

export function answerTo(incoming: IncomingMessage, response: Response): Response {
  return withRequestId(response, requestIdOfIncoming(incoming));
}

function copyHeaders(incoming: IncomingMessage): Headers {
  const headers = new Headers();
  const fields = fieldsOf(incoming);
  for (let index = 0; index < fields.length; index += 2) {
    const [name = '', value = ''] = fields.slice(index, index + 2);
    // A Request cannot contain HTTP/2 pseudo-headers.
    if (!name.startsWith(':')) headers.append(name, value);
  }
  return headers;
}

/**
 * Returns the headers as a list: name, value, name, value, and so on. Adapters for serverless
 * platforms, for example `serverless-http`, fill only `headers`.
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
    // The body is nested too deeply. The endpoint rejects an empty body.
    return '';
  }
}

function bodyInit(body: NonNullable<SourceBody>): { readonly body: BodyInit } {
  if (typeof body === 'string' || body instanceof Uint8Array) return { body: body as BodyInit };
  const stream = body instanceof Readable ? unread(body) : failing(body);
  return Object.assign({ body: stream }, { duplex: 'half' });
}

/**
 * Returns true if the client sent the body that other code has read (RFC 9112 section 6.3). HTTP/2
 * needs no header for a body (RFC 9113 section 8.1).
 */
function hasBody({ headers, httpVersionMajor }: IncomingMessage): boolean {
  if (headers['transfer-encoding'] !== undefined) return true;
  const length = headers['content-length'];
  return length === undefined ? httpVersionMajor > 1 : Number(length) > 0;
}

/** Fails with this error when it is read. */
function failing(error: Error): ReadableStream {
  return new ReadableStream({ start: (controller) => controller.error(error) });
}

/**
 * Returns an unread body as a stream. Canceling it does not close the connection, so a client whose
 * body is too large still receives the response.
 */
function unread(source: Readable): ReadableStream<Uint8Array> {
  let cancelled = false;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      source.on('data', (chunk: Buffer | string) => {
        // A paused body that is discarded would stay paused forever, because nothing reads it.
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
 * The bodies that nothing reads any longer. Up to `MOST_DISCARDED` bytes of each are read and
 * discarded, to reach the next request on the connection.
 */
const discarding = new WeakSet<Readable>();

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
 * with brackets. Parsers create a list with one element only from `a[]=1`, so it gets brackets too.
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
 * Sends a Response, without its body if `head` is true. Adds its `Set-Cookie` headers to those of
 * the framework.
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
  // Node closes the connection after the response if you remove a Transfer-Encoding header that is
  // not set. So remove only headers that are set.
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
  // The framework saves the session when the response ends, so send the body in one piece.
  if (!(body instanceof ReadableStream)) {
    outgoing.end(body);
    return;
  }
  const stream = Readable.fromWeb(body as NodeStream);
  outgoing.once('close', () => stream.destroy());
  stream.on('error', () => outgoing.destroy());
  stream.pipe(outgoing);
}

/** `context` is the framework's request or context object. */
export async function answerOf(
  dispatched: NonNullable<Dispatched>,
  asked: Incoming,
  origin: string,
  context: unknown,
): Promise<SentAnswer> {
  const { incoming, parsed } = asked;
  // The stream may fail before the endpoint reads it. This must not end the process.
  if (parsed instanceof Readable) parsed.on('error', () => {});
  if ('refuse' in dispatched) {
    const refusal = dispatched.refuse(requestIdOfIncoming(incoming));
    return answerFromResponse(answerTo(incoming, refusal));
  }
  const reply = replyingOf(dispatched);
  if (reply !== null) return reply(requestOnDemand(asked, origin), context, answerFromReply);
  const response = await dispatched.handle(requestFrom(asked, origin), context);
  const answer = answerFromResponse(answerTo(incoming, response));
  // If the client has left, nothing would ever read an event stream.
  if (!isClosed(asked.outgoing)) return answer;
  cancelBody(answer);
  return { ...answer, body: null };
}

/**
 * Responds to a request for an endpoint's path through Node's response. Host methods receive Node's
 * request with the properties of the framework. Rejects only if sending the response fails.
 */
export async function answerDispatched(
  dispatched: NonNullable<Dispatched>,
  asked: Incoming,
  origin: string,
): Promise<void> {
  const answer = await answerOf(dispatched, asked, origin, asked.incoming);
  await sendAnswer(answer, asked.outgoing, asked.incoming.method === 'HEAD');
}
