import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import { madeWithRequestId, REQUEST_ID_HEADER, requestIdOf } from '../http/request-id.ts';
import { VERSION_HEADER, type Messages } from './messages.ts';
import { PROTOCOL_VERSIONS, type Protocol } from './protocol.ts';
import { protocolRefusal, refusal } from './refusal.ts';

export interface ExchangeOptions {
  readonly protocol: Protocol;
  /** Whether answers are sent as events, with the progress of tools before them. */
  readonly streaming: boolean;
}

/** Answers the messages of one request. */
export async function exchange(
  request: Request,
  messages: Messages,
  { protocol, streaming }: ExchangeOptions,
): Promise<Response> {
  const refused = versionRefusal(messages, request.headers.get(VERSION_HEADER));
  if (refused !== null) return refused;
  const { requests } = messages;
  if (requests.length === 0) return new Response(null, { status: 202 });
  const { signal } = request;
  if (signal.aborted) return refusal(499, CALLER_IS_GONE);
  if (streaming) return named(request, EVENT_STREAM, eventsOf(requests, protocol, signal));
  const answers = await Promise.all(
    requests.map((message) => protocol(message, { signal, notify: discard })),
  );
  if (signal.aborted) return refusal(499, CALLER_IS_GONE);
  return named(request, JSON_BODY, answers.length === 1 ? answers[0] : `[${answers.join(',')}]`);
}

/** Nobody reads it. */
const CALLER_IS_GONE = 'The caller is gone.';
/** The most messages of one body. */
const LARGEST_BATCH = 100;

/** Null for messages that the version of the protocol allows. */
function versionRefusal({ count, initializes }: Messages, version: string | null): Response | null {
  if (count > LARGEST_BATCH) {
    return protocolRefusal(`Invalid Request: Batch must not exceed ${LARGEST_BATCH} messages`, -32_600);
  }
  if (initializes) {
    if (count === 1) return null;
    return protocolRefusal('Invalid Request: Only one initialization request is allowed', -32_600);
  }
  if (version === null || PROTOCOL_VERSIONS.includes(version)) return null;
  const supported = PROTOCOL_VERSIONS.join(', ');
  return protocolRefusal(
    `Bad Request: Unsupported protocol version: ${version} (supported versions: ${supported})`,
    -32_000,
  );
}

const JSON_BODY = { 'content-type': 'application/json' };
const EVENT_STREAM = {
  'cache-control': 'no-cache, no-transform',
  connection: 'keep-alive',
  'content-type': 'text/event-stream',
  'x-accel-buffering': 'no',
};
const REQUEST_ID = REQUEST_ID_HEADER.toLowerCase();

/** The id is given with the other header fields: adding it to those of a Response takes longer than making the Response. */
function named(
  request: Request,
  headers: Readonly<Record<string, string>>,
  body: string | ReadableStream | undefined,
): Response {
  const response = new Response(body, { headers: { ...headers, [REQUEST_ID]: requestIdOf(request) } });
  return madeWithRequestId(response);
}

function discard(): void {}

/** Each answer as an event when it is there, and the notifications of tools before it. */
function eventsOf(
  requests: readonly JSONRPCRequest[],
  protocol: Protocol,
  signal: AbortSignal,
): ReadableStream<Uint8Array> {
  const gone = new AbortController();
  const events = openEvents(leave);
  function leave(): void {
    events.end();
    gone.abort();
  }
  signal.addEventListener('abort', leave);
  const caller = { signal: gone.signal, notify: events.send };
  const answerAll = async () => {
    await Promise.all(requests.map(async (message) => events.send(await protocol(message, caller))));
    // The runtime may keep a signal that has listeners, and all that they refer to, for as long as the process lives.
    signal.removeEventListener('abort', leave);
    events.end();
  };
  void answerAll();
  return events.body;
}

/** How often something is sent while tools work, in milliseconds: proxies close what is silent. */
const KEEP_ALIVE = 15_000;
const UTF8 = new TextEncoder();

/** A stream of events (Server-Sent Events). What is sent after its end is discarded. */
function openEvents(cancelled: () => void) {
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  const write = (text: string) => controller?.enqueue(UTF8.encode(text));
  const keepAlive = setInterval(write, KEEP_ALIVE, ': keepalive\n\n').unref();
  return {
    body: new ReadableStream<Uint8Array>({
      start(opened) {
        controller = opened;
      },
      cancel() {
        controller = null;
        clearInterval(keepAlive);
        cancelled();
      },
    }),
    send: (text: string) => write(`event: message\ndata: ${text}\n\n`),
    end() {
      clearInterval(keepAlive);
      controller?.close();
      controller = null;
    },
  };
}
