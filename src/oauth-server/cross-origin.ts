import type { Reply } from './responses.ts';

/**
 * Browser applications are public clients too: the endpoints that read no session answer every origin, without
 * credentials. What reads a session (authorize) or is not for browsers (introspect) is never wrapped.
 */

const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'GET, POST',
  // MCP clients send their version with the request for the metadata.
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, MCP-Protocol-Version',
  'Access-Control-Max-Age': '7200',
} as const;

export const PREFLIGHT: Reply = { status: 204, headers: PREFLIGHT_HEADERS, body: null };

/** Lets a page of any origin read this answer. */
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
