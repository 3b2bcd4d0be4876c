/**
 * Which pages may call tools from a browser: those of this very origin, and of `mcp:allowed_origins`. A request without an
 * `Origin` comes from no page (MCP, Security Warning of the transport: DNS rebinding).
 */
export function isForeign(request: Request, ownOrigin: string, allowed: readonly string[]): boolean {
  const origin = request.headers.get('origin');
  return origin !== null && origin !== ownOrigin && !allowed.includes(origin);
}

/** What lets a page of an allowed origin read the answer. */
export function corsHeaders(
  request: Request,
  allowed: readonly string[],
): readonly (readonly [name: string, value: string])[] {
  const origin = request.headers.get('origin');
  if (origin === null || !allowed.includes(origin)) return [];
  return [
    ['Access-Control-Allow-Origin', origin],
    ['Access-Control-Expose-Headers', 'MCP-Protocol-Version, Retry-After, X-Request-Id'],
    ['Vary', 'Origin'],
  ];
}

export function preflightResponse(cors: readonly (readonly [name: string, value: string])[]): Response {
  const headers = new Headers([
    // Those that are answered 405, too: a page asks for a stream or ends a session to see whether it can.
    ['Access-Control-Allow-Methods', 'POST, GET, DELETE'],
    // The last two come from clients that first try a later version than is spoken here, and go on with an older one.
    [
      'Access-Control-Allow-Headers',
      'Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name',
    ],
    ['Access-Control-Max-Age', '7200'],
  ]);
  for (const [name, value] of cors) headers.append(name, value);
  return new Response(null, { status: 204, headers: cors.length === 0 ? {} : headers });
}

/** The public documents: to whom they may be shown nobody asks, and clients send the version with the request for them. */
export const DOCUMENT_PREFLIGHT: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, MCP-Protocol-Version',
  'Access-Control-Max-Age': '7200',
};
