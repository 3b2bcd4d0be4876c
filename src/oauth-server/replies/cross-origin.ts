import { allowedFields } from '../../http/preflight.ts';
import type { Reply } from './responses.ts';

/**
 * Cross-origin requests, never with credentials. Browser applications are public clients too, so pages of any origin may call
 * the endpoints that read no session; authorize reads one, and introspect is not for browsers.
 */

const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, POST',
  'Access-Control-Max-Age': '7200',
} as const;

/** MCP clients send their version with the request for the metadata. */
const FIELDS = 'Authorization, Content-Type, MCP-Protocol-Version';

/** For an endpoint with these methods: beyond GET and POST it names them. Proofs (RFC 9449) are named where they are taken. */
export function preflight(request: Request, methods: readonly string[], takesDpop: boolean): Reply {
  const named = methods.every((method) => method === 'GET' || method === 'POST')
    ? {}
    : { 'Access-Control-Allow-Methods': methods.join(', ') };
  const fields = allowedFields(request, takesDpop ? `${FIELDS}, DPoP` : FIELDS);
  return { status: 204, headers: { ...PREFLIGHT_HEADERS, ...named, ...fields }, body: null };
}

const EXPOSED = 'WWW-Authenticate, Retry-After, X-Request-Id';

/** What a page of any origin needs to read a reply; the nonces for proofs, too, where those are taken. */
export function readableHeaders(takesDpop: boolean): Readonly<Record<string, string>> {
  return {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': takesDpop ? `${EXPOSED}, DPoP-Nonce` : EXPOSED,
  };
}
