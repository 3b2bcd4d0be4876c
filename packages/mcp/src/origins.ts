import { allowedFields } from 'portico/extension';

/**
 * Whether a page may not call tools. Allowed are pages of this origin and of `mcp:allowed_origins`.
 * A request without an `Origin` comes from no page (MCP, Security Warning of the transport: DNS
 * rebinding).
 */
export function isForeign(request: Request, ownOrigin: string, allowed: readonly string[]): boolean {
  const origin = request.headers.get('origin');
  return origin !== null && origin !== ownOrigin && !allowed.includes(origin);
}

/** Lets a page of an allowed origin read the response, even a refusal. */
export function withCors(response: Response, request: Request, allowed: readonly string[]): Response {
  const { headers } = response;
  const exposed = headers.has('dpop-nonce')
    ? EXPOSED_WITH_NONCE
    : headers.has('www-authenticate')
      ? EXPOSED_WITH_CHALLENGE
      : EXPOSED;
  for (const [name, value] of corsHeaders(request, allowed, exposed)) response.headers.append(name, value);
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

/** Clients that try a newer protocol version first and then fall back also send the last two. */
const ALLOWED_FIELDS = 'Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name';

/**
 * `fields`: request header fields beside those of every client and those that the page asks for.
 */
export function preflightResponse(
  request: Request,
  allowed: readonly string[],
  fields: readonly string[],
): Response {
  const cors = corsHeaders(request, allowed);
  const headers = new Headers([
    // GET and DELETE are answered 405, but pages send them to find that out.
    ['Access-Control-Allow-Methods', 'POST, GET, DELETE'],
    ...Object.entries(allowedFields(request, [ALLOWED_FIELDS, ...fields].join(', '))),
    ['Access-Control-Max-Age', '7200'],
  ]);
  for (const [name, value] of cors) headers.append(name, value);
  return new Response(null, { status: 204, headers: cors.length === 0 ? {} : headers });
}

/**
 * For the public documents, which any page may read. Clients send the protocol version when they
 * fetch them.
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
