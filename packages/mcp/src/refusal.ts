import { jsonText, Note } from 'portico/extension';

/** The messages of the refusals, for the log: a Response does not give its body twice. */
const messages = new Note<string>('refusal');

/** A refusal by the endpoint, before the protocol is asked; it has the form that the SDK's own transport uses. */
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

/** A refusal of the protocol itself, for a request that the endpoint lets through: it is not logged. */
export function protocolRefusal(message: string, code: number): Response {
  return jsonResponse({ jsonrpc: '2.0', error: { code, message }, id: null }, 400);
}

/** A refusal of a request that could be read: its error names the request (MCP 2026-07-28, Error Responses). */
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

/** `Response.json`, with text that is well-formed Unicode. */
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

/** The message of a refusal; null for any other response. */
export function refusalMessage(response: Response): string | null {
  return messages.of(response) ?? null;
}
