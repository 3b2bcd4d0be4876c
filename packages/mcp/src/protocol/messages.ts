import { acceptsByName, hasHalves, readMediaType, readBytes } from 'portico/extension';
import {
  isInitializeRequest,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCRequest,
} from '@modelcontextprotocol/server';
import { DEEPEST, isTooDeep } from './nesting.ts';
import { isShort, MOST_VALUES } from './protocol-types.ts';
import { protocolRefusal, refusal, requestRefusal } from '../refusal.ts';
import { readMetadata, VERSION_HEADER, type RequestMetadata } from './stateless.ts';
import { BATCHING_VERSION, STATELESS_VERSION, type OfferedVersions } from './versions.ts';

/**
 * The parsed body of a request to the MCP endpoint. Portico parses the body only once, so it runs
 * exactly the messages that it has checked.
 */
export interface Messages {
  /** The messages that need an answer. All other messages are notifications and responses. */
  readonly requests: readonly JSONRPCRequest[];
  /** The number of messages in the body, of all kinds. */
  readonly count: number;
  /** Whether the body is a list. The answer is then also a list (JSON-RPC 2.0 section 6). */
  readonly isBatch: boolean;
  /** Whether one of the messages is a valid `initialize`. */
  readonly initializes: boolean;
  /** The names of the tools that the messages call. */
  readonly calledTools: readonly string[];
  /**
   * The ids of the requests to cancel. Always empty in version 2026-07-28, where a client cancels a
   * request by closing its connection.
   */
  readonly cancelled: readonly RequestId[];
  /** The metadata of a 2026-07-28 request. It is null in other versions. */
  readonly metadata: RequestMetadata | null;
}

/** The id of a JSON-RPC request. The number 1 and the string "1" are different ids. */
export type RequestId = JSONRPCRequest['id'];

/**
 * Counts messages before they run. Returns 0 if they are allowed now. Otherwise, returns how many
 * milliseconds to wait.
 */
export type TakeMessages = (count: number) => number;

/** The maximum size of a request body, in bytes. */
const BODY_LIMIT = 1024 * 1024;
/** The maximum number of messages in one request body. */
const LARGEST_BATCH = 100;
/**
 * The maximum number of values in one request body, counted at all levels. The SDK's schemas take a
 * few microseconds per value.
 */
const MOST_OF_A_BODY = 10_000;

/** The messages, or the response that rejects the request. */
type Read = { readonly messages: Messages } | { readonly refusal: Response };

/** Reads and checks the messages of a request. */
export async function readMessages(
  request: Request,
  versions: OfferedVersions,
  take: TakeMessages,
): Promise<Read> {
  const { headers } = request;
  const unreadable = headerRefusal(headers);
  if (unreadable !== null) return { refusal: unreadable };
  // If the client disconnects, treat the body as empty.
  const body = await readBytes(request, BODY_LIMIT, (failure) =>
    failure === 'too large' ? null : Buffer.alloc(0),
  );
  if (body === null) return { refusal: refusal(413, 'The body is larger than 1 MiB.') };
  const parsed = parse(body);
  const wait = take(Array.isArray(parsed) ? parsed.length : 1);
  if (wait > 0) return { refusal: limitRefusal(wait, parsed, headers, versions) };
  if (parsed === undefined) return { refusal: refusal(400, 'The body is not JSON.', {}, -32_700) };
  const problem = bodyProblem(body, parsed);
  if (problem !== null)
    return { refusal: bodyRefusal(-32_600, problem, parsed, headers, versions) };
  const read = versions.stateless ? readMetadata(parsed, headers, versions) : { metadata: null };
  if ('refusal' in read) return read;
  return checkMessages(parsed, headers, versions, read.metadata);
}

function checkMessages(
  body: unknown,
  headers: Headers,
  versions: OfferedVersions,
  metadata: RequestMetadata | null,
): Read {
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  const refused = Array.isArray(body) ? batchRefusal(body, headers) : null;
  if (refused !== null) return { refusal: refused };
  const requests = messages.filter((message) => isJSONRPCRequest(message));
  if (requests.length < messages.length && !messages.every(isMessage)) return invalid(NO_REQUEST);
  // Clients match a response to its request by the id, so two requests cannot have the same id.
  if (new Set(requests.map(({ id }) => id)).size < requests.length) return invalid(SAME_ID);
  const initializing = requests.filter(({ method }) => method === 'initialize');
  if (initializing.length > 0 && !isShort(initializing)) {
    const problem = `What the client says of itself is more than ${MOST_VALUES} values.`;
    return { refusal: bodyRefusal(-32_602, problem, body, headers, versions) };
  }
  return {
    messages: {
      requests,
      count: messages.length,
      isBatch: Array.isArray(body),
      initializes: initializing.some((message) => isInitializeRequest(message)),
      calledTools: findCalledTools(messages),
      cancelled: metadata === null ? findCancelled(messages) : [],
      metadata,
    },
  };
}

function batchRefusal(batch: readonly unknown[], headers: Headers): Response | null {
  // Versions after 2025-03-26 require this header. A request without it uses 2025-03-26 (MCP-8.8).
  const version = headers.get(VERSION_HEADER) ?? BATCHING_VERSION;
  if (batch.length === 0 || version !== BATCHING_VERSION) {
    return refusal(400, 'Batches are only for the protocol version 2025-03-26.', {}, -32_600);
  }
  // A cancelled request gets no response, so a batch must not cancel its own requests. Without
  // sessions, a batch cannot cancel any other request.
  if (batch.some((message) => readMethod(message) === CANCELLED)) {
    return refusal(400, 'A batch cannot cancel what it asks for.', {}, -32_600);
  }
  // Check only the size of the batch here. Its messages are checked later.
  if (batch.length <= LARGEST_BATCH) return null;
  return protocolRefusal(
    `Invalid Request: Batch must not exceed ${LARGEST_BATCH} messages`,
    -32_600,
  );
}

const NO_REQUEST = 'The body is not a JSON-RPC 2.0 request.';
const SAME_ID = 'Two requests of a batch have the same id.';

function invalid(problem: string): Read {
  return { refusal: refusal(400, problem, {}, -32_600) };
}

const JSON_TYPE = 'application/json';
/** The media types that every client must accept (MCP, Sending Messages to the Server). */
const RESPONSE_TYPES = [JSON_TYPE, 'text/event-stream'] as const;

/**
 * Checks the headers that every POST needs, before the body is read (MCP, Sending Messages to the
 * Server).
 */
function headerRefusal(headers: Headers): Response | null {
  const accept = headers.get('accept');
  if (!RESPONSE_TYPES.every((mediaType) => acceptsByName(accept, mediaType))) {
    return refusal(406, 'Accept must list both application/json and text/event-stream.');
  }
  if (readMediaType(headers.get('content-type')) !== JSON_TYPE)
    return refusal(415, 'Content-Type must be application/json.');
  return null;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses the body as JSON. Returns undefined if the body is not valid JSON, is not UTF-8, or has a
 * byte order mark (RFC 8259 section 8.1).
 */
function parse(body: Buffer): unknown {
  try {
    return JSON.parse(UTF8.decode(body)) as unknown;
  } catch {
    return undefined;
  }
}

/** Returns the problem with a body, or null. Runs before the slower schema checks. */
function bodyProblem(body: Buffer, parsed: unknown): string | null {
  if (isTooDeep(body)) return `The body is nested too deep: more than ${DEEPEST} levels.`;
  if (!isShort(parsed, MOST_OF_A_BODY)) return `The body has more than ${MOST_OF_A_BODY} values.`;
  const hasEscapes = body.includes('\\ud') || body.includes('\\uD');
  return hasEscapes && hasHalves(parsed)
    ? 'The body has text that is not well-formed Unicode.'
    : null;
}

/**
 * Creates the error for a body that is rejected before its messages are read. In 2026-07-28, the
 * error contains the request's id. The version comes from the header, because the body is not read
 * yet.
 */
function bodyRefusal(
  code: number,
  message: string,
  body: unknown,
  headers: Headers,
  versions: OfferedVersions,
): Response {
  return namesRequest(headers, versions)
    ? requestRefusal(400, body, { code, message })
    : refusal(400, message, {}, code);
}

function limitRefusal(
  wait: number,
  body: unknown,
  headers: Headers,
  versions: OfferedVersions,
): Response {
  const message = 'Too many messages: try again later.';
  const retry = { 'Retry-After': String(Math.ceil(wait / 1000)) };
  return namesRequest(headers, versions)
    ? requestRefusal(429, body, { code: 429, message }, retry)
    : refusal(429, message, retry);
}

function namesRequest(headers: Headers, { stateless }: OfferedVersions): boolean {
  return stateless && headers.get(VERSION_HEADER) === STATELESS_VERSION;
}

const CANCELLED = 'notifications/cancelled';

function readMethod(message: unknown): unknown {
  return isObject(message) ? message['method'] : undefined;
}

function isMessage(message: unknown): boolean {
  return isJSONRPCRequest(message) || isJSONRPCNotification(message) || isJSONRPCResponse(message);
}

function findCalledTools(messages: readonly unknown[]): readonly string[] {
  return messages.flatMap((message) => {
    if (!isObject(message) || message['method'] !== 'tools/call' || !isObject(message['params']))
      return [];
    const { name } = message['params'];
    return typeof name === 'string' ? [name] : [];
  });
}

function findCancelled(messages: readonly unknown[]): readonly RequestId[] {
  return messages.flatMap((message) => {
    if (!isObject(message) || message['method'] !== CANCELLED || 'id' in message) return [];
    const id = isObject(message['params']) ? message['params']['requestId'] : null;
    return typeof id === 'string' || typeof id === 'number' ? [id] : [];
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
