import { WebStandardStreamableHTTPServerTransport, type Server } from '@modelcontextprotocol/server';
import { paramsError, plainHeaders, refusal } from './messages.ts';

export interface Exchange {
  /** Made for this one request: nothing is kept between requests, so any process may answer the next one. */
  readonly server: Server;
  readonly request: Request;
  /** Its body, read and parsed. */
  readonly parsed: unknown;
  readonly streaming: boolean;
}

/**
 * What the protocol answers to one request. When the caller hangs up, nobody waits any longer and its tools are told. Once
 * the answer is made, or its stream has ended, nothing listens on the request's signal any more: the runtime may hold a
 * signal with listeners, and all that they refer to, for as long as the process lives.
 */
export async function exchange({ server, request, parsed, streaming }: Exchange): Promise<Response> {
  const { url, headers, signal } = request;
  const gone = Promise.withResolvers<Response>();
  const over = () => signal.removeEventListener('abort', leave);
  const leave = () => {
    over();
    gone.resolve(refusal(499, 'The caller is gone.'));
    server.close().catch(() => {});
  };
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !streaming });
  await server.connect(transport);
  refuseWrongParams(transport);
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave);
  let streams = false;
  try {
    const message = new Request(url, { method: 'POST', headers: plainHeaders(headers) });
    const answer = transport.handleRequest(message, { parsedBody: parsed });
    const response = await Promise.race([answer, gone.promise]);
    streams = response.headers.get('content-type') === 'text/event-stream' && response.body !== null;
    return streams ? followed(response, over, leave) : response;
  } finally {
    if (!streams) over();
  }
}

/** The server calls what its schemas do not take its own error, and tells the caller their complaint. */
function refuseWrongParams(transport: WebStandardStreamableHTTPServerTransport): void {
  const { onmessage: served } = transport;
  const onmessage: typeof served = (message, extra) => {
    const error = paramsError(message);
    if (error === null) served?.(message, extra);
    else void transport.send(error);
  };
  Object.assign(transport, { onmessage });
}

/** The same stream; who reads it says when it has ended, or that nobody reads it any more. */
function followed({ body, status, headers }: Response, ended: () => void, cancelled: () => void): Response {
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
