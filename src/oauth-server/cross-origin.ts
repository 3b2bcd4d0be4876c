/**
 * Browser applications are public clients too: the endpoints that read no session answer every origin, without
 * credentials. What reads a session (authorize) or is not for browsers (introspect) is never wrapped.
 */

const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, POST',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type',
  'Access-Control-Max-Age': '7200',
} as const;

export function preflightResponse(): Response {
  return new Response(null, { status: 204, headers: PREFLIGHT_HEADERS });
}

/** Lets a page of any origin read this response. */
export function readableByAnyOrigin(response: Response): Response {
  response.headers.set('Access-Control-Allow-Origin', '*');
  response.headers.set('Access-Control-Expose-Headers', 'WWW-Authenticate, Retry-After');
  return response;
}
