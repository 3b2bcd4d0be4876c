/** The body of a request to the MCP endpoint, read once. */
export interface Messages {
  readonly body: string;
  /** The JSON value; undefined when it is none, which the transport then says. */
  readonly parsed: unknown;
  /** The names of the tools that it calls. */
  readonly calledTools: readonly string[];
}

/** The largest body that is read, in bytes. */
const BODY_LIMIT = 1024 * 1024;
/** The one version in which several messages may come in one body (MCP 2025-03-26, Batching). */
const BATCHING_VERSION = '2025-03-26';

/** Reads the messages, or the answer to a body that cannot be taken. */
export async function readMessages(
  request: Request,
): Promise<{ readonly messages: Messages } | { readonly refusal: Response }> {
  const body = await readText(request);
  if (body === null) return { refusal: refusal(413, 'The body is larger than 1 MiB.') };
  const parsed = parse(body);
  // A request without the header speaks the version that knew none.
  const version = request.headers.get('mcp-protocol-version') ?? BATCHING_VERSION;
  if (Array.isArray(parsed) && (parsed.length === 0 || version !== BATCHING_VERSION)) {
    return { refusal: refusal(400, 'Batches are only for the protocol version 2025-03-26.', {}, -32_600) };
  }
  return { messages: { body, parsed, calledTools: calledTools(parsed) } };
}

/** What the endpoint refuses before the protocol begins, as the protocol's own transport would say it. */
export function refusal(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
  code = -32_000,
): Response {
  return Response.json(
    { jsonrpc: '2.0', error: { code, message }, id: null },
    { status, headers: { 'Cache-Control': 'no-store', ...headers } },
  );
}

async function readText(request: Request): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.byteLength;
      if (size > BODY_LIMIT) return null;
      chunks.push(chunk);
    }
  } catch {
    // The sender hung up: what came is no message.
    return '';
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

function calledTools(parsed: unknown): readonly string[] {
  const messages: readonly unknown[] = Array.isArray(parsed) ? parsed : [parsed];
  return messages.flatMap((message) => {
    if (!isObject(message) || message['method'] !== 'tools/call' || !isObject(message['params'])) return [];
    const { name } = message['params'];
    return typeof name === 'string' ? [name] : [];
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
