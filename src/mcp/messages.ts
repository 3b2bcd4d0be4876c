import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  isSpecType,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
} from '@modelcontextprotocol/server';
import { readBytes } from '../http/body.ts';
import { acceptsByName, mediaTypeOf } from '../http/media-types.ts';

/** The body of a request to the MCP endpoint: read and parsed once, so that nobody sees another message than was judged. */
export interface Messages {
  readonly parsed: unknown;
  /** The names of the tools that it calls. */
  readonly calledTools: readonly string[];
  /** The protocol version that it asks to begin with; null when it does not begin. */
  readonly initializesAs: string | null;
}

/** The largest body that is read, in bytes. */
const BODY_LIMIT = 1024 * 1024;
/** The one version in which several messages may come in one body (MCP 2025-03-26, Batching). */
const BATCHING_VERSION = '2025-03-26';

/** Reads the messages, or the answer to a body that cannot be taken. */
export async function readMessages(
  request: Request,
): Promise<{ readonly messages: Messages } | { readonly refusal: Response }> {
  const unreadable = headerRefusal(request.headers);
  if (unreadable !== null) return { refusal: unreadable };
  // A sender who hung up has sent no message.
  const body = await readBytes(request, BODY_LIMIT, (failure) =>
    failure === 'too large' ? null : Buffer.alloc(0),
  );
  if (body === null) return { refusal: refusal(413, 'The body is larger than 1 MiB.') };
  const parsed = parse(body);
  if (parsed === undefined) return { refusal: refusal(400, 'The body is not JSON.', {}, -32_700) };
  const messages: readonly unknown[] = Array.isArray(parsed) ? parsed : [parsed];
  // A request without the header speaks the version that knew none.
  const version = request.headers.get('mcp-protocol-version') ?? BATCHING_VERSION;
  if (Array.isArray(parsed) && (parsed.length === 0 || version !== BATCHING_VERSION)) {
    return { refusal: refusal(400, 'Batches are only for the protocol version 2025-03-26.', {}, -32_600) };
  }
  // What is cancelled is never answered, and there is nothing before this body that could be.
  if (Array.isArray(parsed) && messages.some((message) => methodOf(message) === CANCELLED)) {
    return { refusal: refusal(400, 'A batch cannot cancel what it asks for.', {}, -32_600) };
  }
  if (!messages.every(isMessage)) {
    return { refusal: refusal(400, 'The body is no request of JSON-RPC 2.0.', {}, -32_600) };
  }
  if (!haveOwnIds(messages)) {
    return { refusal: refusal(400, 'Two requests of a batch have the same id.', {}, -32_600) };
  }
  return {
    messages: { parsed, calledTools: calledTools(messages), initializesAs: initializesAs(messages) },
  };
}

const JSON_TYPE = 'application/json';
/** What every caller must be ready to be answered with, whichever is used (MCP, Sending Messages to the Server). */
const ANSWERS = [JSON_TYPE, 'text/event-stream'] as const;

/** The header fields of a request whose body was read here, for a transport that compares media types as texts. */
export function plainHeaders(headers: Headers): Headers {
  const plain = new Headers(headers);
  plain.set('Accept', ANSWERS.join(', '));
  plain.set('Content-Type', JSON_TYPE);
  return plain;
}

/** What the transport asks of every POST, before its body is read (MCP, Sending Messages to the Server). */
function headerRefusal(headers: Headers): Response | null {
  const accept = headers.get('accept');
  if (!ANSWERS.every((mediaType) => acceptsByName(accept, mediaType))) {
    return refusal(406, 'Accept must list both application/json and text/event-stream.');
  }
  if (mediaTypeOf(headers.get('content-type')) !== JSON_TYPE)
    return refusal(415, 'Content-Type must be application/json.');
  return null;
}

/** What the endpoint refuses before the protocol begins, as the protocol's own transport would say it. */
export function refusal(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
  code = -32_000,
): Response {
  const response = Response.json(
    { jsonrpc: '2.0', error: { code, message }, id: null },
    { status, headers: { 'Cache-Control': 'no-store', ...headers } },
  );
  reasons.set(response, message);
  return response;
}

const reasons = new WeakMap<Response, string>();

/** What a refusal says, for the log; null for any other answer. */
export function refusedBecause(response: Response): string | null {
  return reasons.get(response) ?? null;
}

/** The JSON value, or undefined for anything that is not JSON in UTF-8 without a byte order mark (RFC 8259 section 8.1). */
function parse(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)) as unknown;
  } catch {
    return undefined;
  }
}

const CANCELLED = 'notifications/cancelled';

function methodOf(message: unknown): unknown {
  return isObject(message) ? message['method'] : undefined;
}

function isMessage(message: unknown): boolean {
  return isJSONRPCRequest(message) || isJSONRPCNotification(message) || isJSONRPCResponse(message);
}

/** Who is answered by id could not tell two answers apart, and would be given one of them alone. */
function haveOwnIds(messages: readonly unknown[]): boolean {
  const ids = messages.filter((message) => isJSONRPCRequest(message)).map(({ id }) => id);
  return new Set(ids).size === ids.length;
}

/** The methods that are served, each with what its requests look like. */
const REQUESTS = new Map<string, (message: unknown) => boolean>([
  ['initialize', isSpecType.InitializeRequest],
  ['ping', isSpecType.PingRequest],
  ['tools/list', isSpecType.ListToolsRequest],
  ['tools/call', isSpecType.CallToolRequest],
]);

/** The error for a request without the parameters of its method; null for any other message. */
export function paramsError(message: JSONRPCMessage): JSONRPCErrorResponse | null {
  if (!isJSONRPCRequest(message) || REQUESTS.get(message.method)?.(message) !== false) return null;
  const text = `The parameters are not those of ${message.method}.`;
  return { jsonrpc: '2.0', id: message.id, error: { code: -32_602, message: text } };
}

function initializesAs(messages: readonly unknown[]): string | null {
  const first = messages.find((message) => methodOf(message) === 'initialize');
  const asked = isObject(first) && isObject(first['params']) ? first['params']['protocolVersion'] : null;
  return typeof asked === 'string' ? asked : null;
}

function calledTools(messages: readonly unknown[]): readonly string[] {
  return messages.flatMap((message) => {
    if (!isObject(message) || message['method'] !== 'tools/call' || !isObject(message['params'])) return [];
    const { name } = message['params'];
    return typeof name === 'string' ? [name] : [];
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
