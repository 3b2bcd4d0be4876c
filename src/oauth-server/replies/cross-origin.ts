import type { Reply } from './responses.ts';

/**
 * Cross-origin requests, never with credentials. Browser applications are public clients too, so pages of any origin may call
 * the endpoints that read no session; authorize reads one, and introspect is not for browsers.
 */

const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, POST',
  // MCP clients send their version with the request for the metadata.
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, MCP-Protocol-Version',
  'Access-Control-Max-Age': '7200',
} as const;

export const PREFLIGHT: Reply = { status: 204, headers: PREFLIGHT_HEADERS, body: null };

/** Lets a page of any origin read the reply. */
export function readableByAnyOrigin(reply: Reply): Reply {
  return {
    ...reply,
    headers: {
      ...reply.headers,
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Expose-Headers': 'WWW-Authenticate, Retry-After, X-Request-Id',
    },
  };
}
