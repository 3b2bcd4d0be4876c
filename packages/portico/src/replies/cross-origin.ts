import { allowedFields } from '../http/preflight.ts';
import type { BindingOffer } from '../http/challenges.ts';
import type { Reply } from './responses.ts';

/**
 * Cross-origin requests, never with credentials. Browser applications are public clients too, so
 * pages of any origin may call the endpoints that read no session; authorize reads one, and
 * introspect is not for browsers.
 */

const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, POST',
  'Access-Control-Max-Age': '7200',
} as const;

/** MCP clients send their version with the request for the metadata. */
const FIELDS = 'Authorization, Content-Type, MCP-Protocol-Version';

/**
 * For an endpoint with these methods: methods other than GET and POST are named. Proof headers are
 * named if proofs are accepted.
 */
export function preflight(request: Request, methods: readonly string[], binding: BindingOffer | null): Reply {
  const named = methods.every((method) => method === 'GET' || method === 'POST')
    ? {}
    : { 'Access-Control-Allow-Methods': methods.join(', ') };
  const fields = allowedFields(request, binding === null ? FIELDS : `${FIELDS}, ${binding.proofField}`);
  return { status: 204, headers: { ...PREFLIGHT_HEADERS, ...named, ...fields }, body: null };
}

const EXPOSED = 'WWW-Authenticate, Retry-After, X-Request-Id';

/**
 * The header fields with which a page of any origin can read a reply, including those about proofs
 * if they are accepted.
 */
export function readableHeaders(binding: BindingOffer | null): Readonly<Record<string, string>> {
  return {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': binding === null ? EXPOSED : `${EXPOSED}, ${binding.answerField}`,
  };
}
