/**
 * Which pages may call tools from a browser: those of this very origin, and of `mcp:allowed_origins`. A request without an
 * `Origin` comes from no page (MCP, Security Warning of the transport: DNS rebinding).
 */
export function isForeign(request: Request, ownOrigin: string, allowed: readonly string[]): boolean {
  const origin = request.headers.get('origin');
  return origin !== null && origin !== ownOrigin && !allowed.includes(origin);
}

/** Lets a page of an allowed origin read the response, also a refusal. */
export function withCors(response: Response, request: Request, allowed: readonly string[]): Response {
  for (const [name, value] of corsHeaders(request, allowed)) response.headers.append(name, value);
  return response;
}

function corsHeaders(
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

export function preflightResponse(request: Request, allowed: readonly string[]): Response {
  const cors = corsHeaders(request, allowed);
  const headers = new Headers([
    // GET and DELETE are answered 405, but pages send them to find that out.
    ['Access-Control-Allow-Methods', 'POST, GET, DELETE'],
    // The last two are sent by clients that first try a newer protocol version and then fall back.
    [
      'Access-Control-Allow-Headers',
      'Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name',
    ],
    ['Access-Control-Max-Age', '7200'],
  ]);
  for (const [name, value] of cors) headers.append(name, value);
  return new Response(null, { status: 204, headers: cors.length === 0 ? {} : headers });
}

/** For the public documents, which any page may read. Clients send the protocol version when they fetch them. */
export const DOCUMENT_PREFLIGHT: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, MCP-Protocol-Version',
  'Access-Control-Max-Age': '7200',
};
