import { isAddedTo } from '../../http/added-headers.ts';
import { readBodyText } from '../../http/body-text.ts';
import type { Reply } from '../../replies/responses.ts';

/** An answer as Node's servers send it. */
export interface SentAnswer {
  /** The HTTP status. */
  readonly status: number;
  /** The header fields, in lower case and sorted. `set-cookie` is not one of them. */
  readonly fields: readonly SentField[];
  /** The values of the `Set-Cookie` fields. */
  readonly cookies: readonly string[];
  /** The body: text, bytes or a stream. Null for an empty body. */
  readonly body: string | Uint8Array | ReadableStream | null;
}

/** A header field. */
export interface SentField {
  readonly name: string;
  readonly value: string;
  /** Whether the value is added to the application's value. Otherwise, it replaces that value. */
  readonly isAdded: boolean;
}

/** Returns a reply as Node's servers send it. */
export function answerFromReply({ status, headers, body, cookies = [] }: Reply): SentAnswer {
  const values = new Map<string, string>();
  for (const [name, value] of Object.entries(headers)) values.set(name.toLowerCase(), value);
  return { status, fields: fieldsOf([...values].toSorted(byName)), cookies, body };
}

/** Returns a Response as Node's servers send it. */
export function answerFromResponse(response: Response): SentAnswer {
  const { status, headers } = response;
  const fields = fieldsOf([...headers].filter(([name]) => name !== 'set-cookie'));
  const body = readBodyText(response) ?? response.body;
  return { status, fields, cookies: headers.getSetCookie(), body };
}

/** Returns the answer with its body in one piece, unless the body is an event stream. */
export async function inOnePiece(answer: SentAnswer): Promise<SentAnswer> {
  const { body, fields } = answer;
  if (!(body instanceof ReadableStream)) return answer;
  const type = fields.find(({ name }) => name === 'content-type')?.value;
  if (type?.startsWith('text/event-stream') === true) return answer;
  return { ...answer, body: new Uint8Array(await new Response(body).arrayBuffer()) };
}

type Field = readonly [name: string, value: string];

function fieldsOf(fields: readonly Field[]): readonly SentField[] {
  const allowsOrigin = fields.some(([name]) => name === 'access-control-allow-origin');
  return fields.map(([name, value]) => ({ name, value, isAdded: isAddedTo(name, allowsOrigin) }));
}

function byName([one]: Field, [other]: Field): number {
  return one < other ? -1 : 1;
}
