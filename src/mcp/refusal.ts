import { createNote } from '../http/note.ts';

/** The messages of the refusals, for the log: a Response does not give its body twice. */
const messages = createNote<string>('refusal');

/** A refusal by the endpoint, before the protocol is asked; it has the form that the SDK's own transport uses. */
export function refusal(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
  code = -32_000,
): Response {
  const response = Response.json(
    { jsonrpc: '2.0', error: { code, message }, id: null },
    { status, headers: { 'Cache-Control': 'no-store', ...headers } },
  );
  messages.set(response, message);
  return response;
}

/** A refusal of the protocol itself, for a request that the endpoint lets through: it is not logged. */
export function protocolRefusal(message: string, code: number): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status: 400 });
}

/** The message of a refusal; null for any other response. */
export function refusalMessage(response: Response): string | null {
  return messages.of(response) ?? null;
}
