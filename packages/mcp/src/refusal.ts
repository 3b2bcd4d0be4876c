import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import { jsonText, Note } from 'portico/extension';

/** What the log says of a refusal, because a Response's body can be read only once. */
export interface NotedRefusal {
  readonly status: number;
  readonly message: string;
}

const refusals = new Note<NotedRefusal>('refusal');

/**
 * A refusal by the endpoint, before the protocol. It has the form that the SDK's transport uses.
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

/** A refusal by the protocol itself, for a request that passed the endpoint. It is not logged. */
export function protocolRefusal(message: string, code: number): Response {
  return jsonResponse({ jsonrpc: '2.0', error: { code, message }, id: null }, 400);
}

/**
 * A refusal of a request that could be read. Its error names the request (MCP 2026-07-28, Error
 * Responses).
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

/** `Response.json`, with well-formed Unicode. */
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
 * A refusal of a call that could be read, as a tool error, which the model sees. The log has it
 * with its status, as if it were the response's.
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

/** What is known of a refusal. Null for any other response. */
export function getRefusal(response: Response): NotedRefusal | null {
  return refusals.of(response) ?? null;
}
