import { madeWithRequestId, REQUEST_ID_HEADER, getRequestId } from 'portico/extension';
import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import type { McpContext } from '../context.ts';
import type { Contributions } from '../contributions.ts';
import type { Messages } from './messages.ts';
import { Protocol } from './protocol.ts';
import { protocolRefusal, refusal } from '../refusal.ts';
import { RunningCalls } from './running-calls.ts';
import { VERSION_HEADER } from './stateless.ts';
import { StatelessProtocol, type StatelessAnswer } from './stateless-protocol.ts';
import { ContentRoom } from '../tools/content-room.ts';
import { ToolCalls, type Caller } from '../tools/tool-call.ts';
import { ToolList } from '../tools/tool-list.ts';
import { BATCHING_VERSION, STATELESS_VERSION, type OfferedVersions } from './versions.ts';

/**
 * Answers the messages of a request. The version of the request determines which protocol does
 * this.
 */
export class Exchange {
  readonly #context: McpContext;
  readonly #contributions: Contributions;
  readonly #protocol: Protocol;
  readonly #stateless: StatelessProtocol;
  readonly #running = new RunningCalls();

  constructor(context: McpContext, contributions: Contributions) {
    const list = new ToolList(context.tools, contributions);
    const calls = new ToolCalls(context);
    this.#context = context;
    this.#contributions = contributions;
    this.#protocol = new Protocol(context, contributions, list, calls);
    this.#stateless = new StatelessProtocol(context, contributions, list, calls);
  }

  async answer(request: Request, messages: Messages): Promise<Response> {
    const version = request.headers.get(VERSION_HEADER) ?? BATCHING_VERSION;
    const { requests, metadata } = messages;
    const refused =
      metadata === null ? versionRefusal(messages, version, this.#context.versions) : null;
    if (refused !== null) return refused;
    for (const id of messages.cancelled) this.#running.cancel(id);
    const [first] = requests;
    if (first === undefined) return new Response(null, { status: 202 });
    const { signal } = request;
    if (signal.aborted) return refusal(499, CALLER_IS_GONE);
    const { streaming } = this.#context.config.transport;
    if (metadata !== null) {
      const answer = streaming ? statelessEvents : statelessAnswer;
      return answer(request, (caller) => this.#stateless.answer(first, caller, metadata));
    }
    const answerOne: AnswerOne = (message, caller) => this.#answerOne(message, caller);
    if (streaming)
      return named(request, EVENT_STREAM, streamEvents(requests, answerOne, signal, version));
    const caller = { signal, notify: discard, version, room: new ContentRoom() };
    const answers = await Promise.all(requests.map((message) => answerOne(message, caller)));
    if (signal.aborted) return refusal(499, CALLER_IS_GONE);
    return named(request, JSON_BODY, messages.isBatch ? `[${answers.join(',')}]` : answers[0]);
  }

  #answerOne(message: JSONRPCRequest, caller: Caller): Promise<string> {
    const { method } = message;
    const runs = method === 'tools/call' || this.#contributions.has(method);
    if (!runs) return this.#protocol.answer(message, caller);
    return this.#running.run(message.id, caller.signal, (signal) =>
      this.#protocol.answer(message, { ...caller, signal }),
    );
  }
}

type AnswerOne = (message: JSONRPCRequest, caller: Caller) => Promise<string>;

/** The error message if the caller has disconnected. No client receives it. */
const CALLER_IS_GONE = 'The caller is gone.';

/** Returns the response that rejects the messages, or null if the protocol version allows them. */
function versionRefusal(
  { isBatch, initializes }: Messages,
  version: string,
  { all, initialized }: OfferedVersions,
): Response | null {
  if (initializes) {
    // No batch may contain `initialize`, not even alone (MCP 2025-03-26, Initialization).
    if (!isBatch) return null;
    return protocolRefusal('Invalid Request: Only one initialization request is allowed', -32_600);
  }
  if (initialized.includes(version)) return null;
  const told = (named: string) =>
    `Unsupported protocol version: ${named} (supported versions: ${all.join(', ')})`;
  const detail = told(/^\d{4}-\d\d-\d\d$/.test(version) ? version : 'unknown');
  return protocolRefusal(`Bad Request: ${told(version)}`, -32_000, detail);
}

const JSON_BODY = { 'content-type': 'application/json' };
const EVENT_STREAM = {
  'cache-control': 'no-cache, no-transform',
  'content-type': 'text/event-stream',
  'x-accel-buffering': 'no',
};
const REQUEST_ID = REQUEST_ID_HEADER.toLowerCase();

/** Creates a response with the request id. This is faster than adding the header later. */
function named(
  request: Request,
  headers: Readonly<Record<string, string>>,
  body: string | ReadableStream | undefined,
  status = 200,
): Response {
  const response = new Response(body, {
    status,
    headers: { ...headers, [REQUEST_ID]: getRequestId(request) },
  });
  return madeWithRequestId(response);
}

function discard(): void {}

/**
 * Sends each answer as an event as soon as it is ready. A tool's notifications come before its
 * answer.
 */
function streamEvents(
  requests: readonly JSONRPCRequest[],
  answerOne: AnswerOne,
  signal: AbortSignal,
  version: string,
): ReadableStream<Uint8Array> {
  const gone = new AbortController();
  const events = openEvents(leave);
  function leave(): void {
    events.end();
    gone.abort();
  }
  signal.addEventListener('abort', leave);
  const caller = { signal: gone.signal, notify: events.notify, version, room: new ContentRoom() };
  const answerAll = async () => {
    await Promise.all(
      requests.map(async (message) => events.send(await answerOne(message, caller))),
    );
    // Remove the listener, because the signal could otherwise keep the listener's data in memory
    // forever.
    signal.removeEventListener('abort', leave);
    events.end();
  };
  void answerAll();
  return events.body;
}

/** A function that answers a message with the 2026-07-28 protocol. */
type Ask = (caller: Caller) => Promise<StatelessAnswer>;

/**
 * Returns the version and the size limit for a 2026-07-28 caller. Each request contains only one
 * message.
 */
const alone = () => ({ version: STATELESS_VERSION, room: new ContentRoom() });

async function statelessAnswer(request: Request, ask: Ask): Promise<Response> {
  const { signal } = request;
  const { status, text } = await ask({ ...alone(), signal, notify: discard });
  return signal.aborted ? refusal(499, CALLER_IS_GONE) : named(request, JSON_BODY, text, status);
}

/**
 * Sends the answer as an event. Waits for the first event before it opens the stream, because some
 * errors need a different HTTP status.
 */
async function statelessEvents(request: Request, ask: Ask): Promise<Response> {
  const { signal } = request;
  const gone = new AbortController();
  const opened = Promise.withResolvers<null>();
  const events = openEvents(leave, () => opened.resolve(null));
  function leave(): void {
    events.end();
    gone.abort();
  }
  signal.addEventListener('abort', leave);
  const answering = ask({ ...alone(), signal: gone.signal, notify: events.notify });
  const end = () => {
    signal.removeEventListener('abort', leave);
    events.end();
  };
  const first = await Promise.race([answering, opened.promise]);
  if (first !== null && first.status !== 200) {
    end();
    return named(request, JSON_BODY, first.text, first.status);
  }
  const finish = async () => {
    const { text } = await answering;
    events.send(text);
    end();
  };
  void finish();
  return named(request, EVENT_STREAM, events.body);
}

/**
 * How often to send a comment while tools run, in milliseconds. Otherwise, proxies would close the
 * idle connection.
 */
const KEEP_ALIVE = 15_000;
/**
 * The maximum size of data that the client has not read yet, in bytes. Beyond it, notifications are
 * discarded.
 */
const MOST_WAITING = 1024 * 1024;
const UTF8 = new TextEncoder();

/**
 * Opens a stream of Server-Sent Events. Events after `end` are discarded. `cancelled` must call
 * `end`, too.
 */
function openEvents(cancelled: () => void, written: () => void = discard) {
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  const write = (text: string) => {
    controller?.enqueue(UTF8.encode(text));
    written();
  };
  const send = (text: string) => write(`event: message\ndata: ${text}\n\n`);
  const keepAlive = setInterval(write, KEEP_ALIVE, ': keepalive\n\n').unref();
  return {
    body: new ReadableStream<Uint8Array>(
      {
        start(opened) {
          controller = opened;
        },
        cancel() {
          controller = null;
          cancelled();
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: MOST_WAITING }),
    ),
    send,
    /**
     * Sends a notification. Discards the notification if the client reads too slowly and too much
     * data is waiting.
     */
    notify: (text: string) => {
      if ((controller?.desiredSize ?? 0) > 0) send(text);
    },
    end() {
      clearInterval(keepAlive);
      controller?.close();
      controller = null;
    },
  };
}
