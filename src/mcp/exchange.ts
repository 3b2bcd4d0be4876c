import {
  isJSONRPCRequest,
  isSpecType,
  WebStandardStreamableHTTPServerTransport,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
} from '@modelcontextprotocol/server';
import type { Messages } from './messages.ts';
import { createProtocolServer, type ProtocolOptions } from './protocol.ts';
import { refusal } from './refusal.ts';

/**
 * Answers the messages of one request by a protocol server of its own: nothing is kept between requests, so any process may
 * answer the next one (MCP-8.12). When the caller hangs up, the running tools are aborted. Once the response is made, or its stream has
 * ended, the listener on the request's signal is removed: the runtime may keep a signal that has listeners, and all that they
 * refer to, for as long as the process lives.
 */
export async function exchange(
  { url, headers, signal }: Request,
  { parsed, requestedVersion }: Messages,
  options: ProtocolOptions,
): Promise<Response> {
  const { streaming } = options.config.transport;
  const server = createProtocolServer(options, requestedVersion);
  const hungUp = Promise.withResolvers<Response>();
  const stopListening = () => signal.removeEventListener('abort', abandon);
  const abandon = () => {
    stopListening();
    hungUp.resolve(refusal(499, 'The caller is gone.'));
    server.close().catch(() => {});
  };
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !streaming });
  await server.connect(transport);
  refuseInvalidParams(transport);
  if (signal.aborted) abandon();
  else signal.addEventListener('abort', abandon);
  let streams = false;
  try {
    const message = new Request(url, { method: 'POST', headers: transportHeaders(headers) });
    const answer = transport.handleRequest(message, { parsedBody: parsed });
    const response = await Promise.race([answer, hungUp.promise]);
    streams = response.headers.get('content-type') === 'text/event-stream' && response.body !== null;
    return streams ? watchStream(response, stopListening, abandon) : response;
  } finally {
    if (!streams) stopListening();
  }
}

/** The transport compares media types as text, so it gets the plain form of what `readMessages` has accepted. */
function transportHeaders(headers: Headers): Headers {
  const plain = new Headers(headers);
  plain.set('Accept', 'application/json, text/event-stream');
  plain.set('Content-Type', 'application/json');
  return plain;
}

/** The SDK reports invalid parameters as an internal error, with its schema's messages; the protocol has -32602 for them. */
function refuseInvalidParams(transport: WebStandardStreamableHTTPServerTransport): void {
  const { onmessage: serve } = transport;
  const onmessage: typeof serve = (message, extra) => {
    const error = paramsError(message);
    if (error === null) serve?.(message, extra);
    else void transport.send(error);
  };
  Object.assign(transport, { onmessage });
}

/** The served methods, each with the check of its requests. */
const REQUESTS = new Map<string, (message: unknown) => boolean>([
  ['initialize', isSpecType.InitializeRequest],
  ['ping', isSpecType.PingRequest],
  ['tools/list', isSpecType.ListToolsRequest],
  ['tools/call', isSpecType.CallToolRequest],
]);

/** The error for a request whose parameters are not those of its method; null for any other message. */
function paramsError(message: JSONRPCMessage): JSONRPCErrorResponse | null {
  if (!isJSONRPCRequest(message) || REQUESTS.get(message.method)?.(message) !== false) return null;
  const text = `The parameters are not those of ${message.method}.`;
  return { jsonrpc: '2.0', id: message.id, error: { code: -32_602, message: text } };
}

/** The same stream, which reports its end and that its reader has cancelled it. */
function watchStream(
  { body, status, headers }: Response,
  ended: () => void,
  cancelled: () => void,
): Response {
  const reader = body?.getReader();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await reader?.read();
      if (next?.done === false) {
        controller.enqueue(next.value);
        return;
      }
      ended();
      controller.close();
    },
    async cancel(reason) {
      cancelled();
      await reader?.cancel(reason);
    },
  });
  return new Response(stream, { status, headers });
}
