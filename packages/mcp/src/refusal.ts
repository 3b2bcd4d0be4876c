import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import { jsonText, Note } from 'portico/extension';

/**
 * What the log says about an error response. It is stored separately, because the body of a
 * Response can be read only once.
 */
export interface NotedRefusal {
  readonly status: number;
  readonly message: string;
}

const refusals = new Note<NotedRefusal>('refusal');

/**
 * Creates the response for a request that is rejected before the protocol handles it. It has the
 * same form as errors from the SDK's transport.
 */
export function refusal(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
  code = -32_000,
): Response {
  const response = jsonResponse({ jsonrpc: '2.0', error: { code, message }, id: null }, status, {
    'Cache-Control': 'no-store',
    ...headers,
  });
  refusals.set(response, { status, message });
  return response;
}

/**
 * Creates an error response in the form of earlier protocol versions. `detail` is the message for
 * the log. It must not contain text from the client, which could be a secret.
 */
export function protocolRefusal(message: string, code: number, detail = message): Response {
  const response = jsonResponse({ jsonrpc: '2.0', error: { code, message }, id: null }, 400);
  refusals.set(response, { status: 400, message: detail });
  return response;
}

/**
 * Creates the error response for a request whose body has been read. It contains the request's id
 * (MCP 2026-07-28, Error Responses).
 */
export function requestRefusal(
  status: number,
  message: unknown,
  error: { readonly code: number; readonly message: string; readonly data?: unknown },
  headers: Readonly<Record<string, string>> = {},
): Response {
  const response = jsonResponse({ jsonrpc: '2.0', id: getId(message), error }, status, {
    'Cache-Control': 'no-store',
    ...headers,
  });
  refusals.set(response, { status, message: error.message });
  return response;
}

/** Like `Response.json`, but always writes well-formed Unicode. */
export function jsonResponse(
  content: unknown,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(jsonText(content), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });
}

function getId(message: unknown): string | number | null {
  const id = typeof message === 'object' && message !== null && 'id' in message ? message.id : null;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/**
 * Creates a tool error for a rejected call, so that the model sees the error. The response has the
 * status 200. `refused` contains the status that the log shows instead.
 */
export function refusedCall(
  call: JSONRPCRequest,
  refused: NotedRefusal,
  members: Readonly<Record<string, unknown>>,
): Response {
  const result = { content: [{ type: 'text', text: refused.message }], isError: true, ...members };
  const headers = { 'Cache-Control': 'no-store' };
  const response = jsonResponse({ jsonrpc: '2.0', id: call.id, result }, 200, headers);
  refusals.set(response, refused);
  return response;
}

/** Returns what the log says about an error response, or null for any other response. */
export function getRefusal(response: Response): NotedRefusal | null {
  return refusals.of(response) ?? null;
}
