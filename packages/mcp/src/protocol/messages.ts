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
 * The parsed body of a request to the MCP endpoint. The body is parsed only once, so that the
 * endpoint runs exactly the messages that it has checked.
 */
export interface Messages {
  /** The messages that need an answer. The body can also contain notifications and responses. */
  readonly requests: readonly JSONRPCRequest[];
  /**
   * Whether the body is a list of messages. If so, the response is also a list (JSON-RPC 2.0
   * section 6).
   */
  readonly isBatch: boolean;
  /** Whether the body contains a valid `initialize` request. */
  readonly initializes: boolean;
  /** The names of the tools that the messages call. */
  readonly calledTools: readonly string[];
  /**
   * The ids of the requests that the client cancels. Empty in version 2026-07-28, in which a client
   * cancels a request by closing its connection.
   */
  readonly cancelled: readonly RequestId[];
  /** The metadata of a 2026-07-28 request, or null for requests of other versions. */
  readonly metadata: RequestMetadata | null;
}

/** The id of a JSON-RPC request. A number and a string are different ids, for example 1 and "1". */
export type RequestId = JSONRPCRequest['id'];

/**
 * Counts messages before they run. Returns 0 if they are allowed now. Otherwise, returns how many
 * milliseconds the caller must wait.
 */
export type TakeMessages = (count: number) => number;

/** The maximum size of a request body, in bytes. */
const BODY_LIMIT = 1024 * 1024;
/** The maximum number of messages in one request body. */
const LARGEST_BATCH = 100;
/**
 * The maximum number of JSON values in one request body, including nested values. The SDK's schemas
 * need a few microseconds for each value.
 */
const MOST_OF_A_BODY = 10_000;

/** The messages of a request, or the response that rejects the request. */
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
  // If the client has disconnected, treat the body as empty.
  const body = await readBytes(request, BODY_LIMIT, (failure) =>
    failure === 'too large' ? null : Buffer.alloc(0),
  );
  if (body === null) return { refusal: refusal(413, 'The body is larger than 1 MiB.') };
  const parsed = parse(body);
  const wait = take(Array.isArray(parsed) ? Math.max(parsed.length, 1) : 1);
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
  // Two requests in a batch must not have the same id, because clients find the response to a
  // request by its id.
  if (new Set(requests.map(({ id }) => id)).size < requests.length) return invalid(SAME_ID);
  const initializing = requests.filter(({ method }) => method === 'initialize');
  if (initializing.length > 0 && !isShort(initializing)) {
    const problem = `What the client says of itself is more than ${MOST_VALUES} values.`;
    return { refusal: bodyRefusal(-32_602, problem, body, headers, versions) };
  }
  return {
    messages: {
      requests,
      isBatch: Array.isArray(body),
      initializes: initializing.some((message) => isInitializeRequest(message)),
      calledTools: findCalledTools(messages),
      cancelled: metadata === null ? findCancelled(messages) : [],
      metadata,
    },
  };
}

function batchRefusal(batch: readonly unknown[], headers: Headers): Response | null {
  // Without this header, the request uses version 2025-03-26. Later versions require the header
  // (MCP-8.8).
  const version = headers.get(VERSION_HEADER) ?? BATCHING_VERSION;
  if (batch.length === 0 || version !== BATCHING_VERSION) {
    return refusal(400, 'Batches are only for the protocol version 2025-03-26.', {}, -32_600);
  }
  // A batch must not cancel its own requests, because canceled requests get no response. To cancel
  // another request, the client must send the notification alone.
  if (batch.some((message) => readMethod(message) === CANCELLED)) {
    return refusal(400, 'A batch cannot cancel what it asks for.', {}, -32_600);
  }
  // Here, check only the number of messages. The messages themselves are checked later.
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
/** The media types that a client must accept in each POST (MCP, Sending Messages to the Server). */
const RESPONSE_TYPES = [JSON_TYPE, 'text/event-stream'] as const;

/**
 * Checks the headers that each POST needs (MCP, Sending Messages to the Server). Runs before the
 * body is read.
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
 * Parses the body as JSON. Returns undefined if it is not valid JSON, is not UTF-8, or begins with
 * a byte order mark (RFC 8259 section 8.1).
 */
function parse(body: Buffer): unknown {
  try {
    return JSON.parse(UTF8.decode(body)) as unknown;
  } catch {
    return undefined;
  }
}

/** Returns the problem with a body, or null. Runs first, because the schema checks are slower. */
function bodyProblem(body: Buffer, parsed: unknown): string | null {
  if (isTooDeep(body)) return `The body is nested too deep: more than ${DEEPEST} levels.`;
  if (!isShort(parsed, MOST_OF_A_BODY)) return `The body has more than ${MOST_OF_A_BODY} values.`;
  const hasEscapes = body.includes('\\ud') || body.includes('\\uD');
  return hasEscapes && hasHalves(parsed)
    ? 'The body has text that is not well-formed Unicode.'
    : null;
}

/**
 * Creates the error response for a body that is rejected before its messages are checked. In
 * version 2026-07-28, the response contains the request's id. The version comes from the header,
 * because the messages have not been checked.
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
