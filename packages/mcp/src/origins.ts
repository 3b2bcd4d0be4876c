import { allowedFields } from 'portico/extension';

/**
 * Whether the request comes from a web page that may not call tools. Only pages on this server's
 * origin and on `mcp:allowed_origins` may call tools. A request without an `Origin` header does not
 * come from a page. This check prevents DNS rebinding (MCP, Security Warning of the transport).
 */
export function isForeign(
  request: Request,
  ownOrigin: string,
  allowed: readonly string[],
): boolean {
  const origin = request.headers.get('origin');
  return origin !== null && origin !== ownOrigin && !allowed.includes(origin);
}

/**
 * Adds the headers that let pages on an allowed origin read the response. This includes error
 * responses.
 */
export function withCors(
  response: Response,
  request: Request,
  allowed: readonly string[],
): Response {
  const { headers } = response;
  const exposed = headers.has('dpop-nonce')
    ? EXPOSED_WITH_NONCE
    : headers.has('www-authenticate')
      ? EXPOSED_WITH_CHALLENGE
      : EXPOSED;
  for (const [name, value] of corsHeaders(request, allowed, exposed))
    response.headers.append(name, value);
  return response;
}

const EXPOSED = 'MCP-Protocol-Version, Retry-After, X-Request-Id';
const EXPOSED_WITH_CHALLENGE = `${EXPOSED}, WWW-Authenticate`;
const EXPOSED_WITH_NONCE = `${EXPOSED_WITH_CHALLENGE}, DPoP-Nonce`;

function corsHeaders(
  request: Request,
  allowed: readonly string[],
  exposed = EXPOSED,
): readonly (readonly [name: string, value: string])[] {
  const origin = request.headers.get('origin');
  if (origin === null || !allowed.includes(origin)) return [];
  return [
    ['Access-Control-Allow-Origin', origin],
    ['Access-Control-Expose-Headers', exposed],
    ['Vary', 'Origin'],
  ];
}

/**
 * The request headers that clients send. They include `Mcp-Method` and `Mcp-Name`, because some
 * clients first try a newer protocol version and then an older one.
 */
const ALLOWED_FIELDS =
  'Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name';

/**
 * Returns the response to a preflight request. It allows the headers that all clients send, the
 * headers that the page has requested, and the headers in `fields`.
 */
export function preflightResponse(
  request: Request,
  allowed: readonly string[],
  fields: readonly string[],
): Response {
  const cors = corsHeaders(request, allowed);
  const headers = new Headers([
    // Also allow GET and DELETE, so that a page that sends them can read the 405 response.
    ['Access-Control-Allow-Methods', 'POST, GET, DELETE'],
    ...Object.entries(allowedFields(request, [ALLOWED_FIELDS, ...fields].join(', '))),
    ['Access-Control-Max-Age', '7200'],
  ]);
  for (const [name, value] of cors) headers.append(name, value);
  return new Response(null, { status: 204, headers: cors.length === 0 ? {} : headers });
}

/**
 * Returns the response to a preflight request for the public documents, which any page may read. It
 * allows the header with the protocol version, because clients also send it with these requests.
 */
export function documentPreflight(request: Request): Response {
  const headers = {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Allow-Methods': 'GET',
    'Access-Control-Max-Age': '7200',
    ...allowedFields(request, 'Authorization, Content-Type, MCP-Protocol-Version'),
  };
  return new Response(null, { status: 204, headers });
}
