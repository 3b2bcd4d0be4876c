import { jsonText, Note } from 'portico/extension';

/** The messages of refusals, for the log, because a Response's body can be read only once. */
const messages = new Note<string>('refusal');

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
  messages.set(response, message);
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
  const response = jsonResponse({ jsonrpc: '2.0', id: idOf(message), error }, status, {
    'Cache-Control': 'no-store',
    ...headers,
  });
  messages.set(response, error.message);
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

function idOf(message: unknown): string | number | null {
  const id = typeof message === 'object' && message !== null && 'id' in message ? message.id : null;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** The message of a refusal. Null for any other response. */
export function refusalMessage(response: Response): string | null {
  return messages.of(response) ?? null;
}
