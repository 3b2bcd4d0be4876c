import { isAddedTo } from '../../http/added-headers.ts';
import { readBodyText } from '../../http/body-text.ts';
import { toResponse, type Reply } from '../../endpoints/replies/responses.ts';

/** A response in the form that a Node server sends. */
export interface SentAnswer {
  /** The HTTP status. */
  readonly status: number;
  /** The headers in lower case, sorted by name, without `set-cookie`. */
  readonly fields: readonly SentField[];
  /** The values of the `Set-Cookie` headers. */
  readonly cookies: readonly string[];
  /** The body as a string, bytes or a stream. Null if there is no body. */
  readonly body: string | Uint8Array | ReadableStream | null;
}

/** One header of a response. */
export interface SentField {
  readonly name: string;
  readonly value: string;
  /**
   * Whether the value is added to the application's value of this header. If false, it replaces the
   * application's value.
   */
  readonly isAdded: boolean;
}

/**
 * Converts a reply to the form that a Node server sends. Throws if the reply is not valid, as
 * `new Response()` does.
 */
export function answerFromReply(reply: Reply): SentAnswer {
  const { status, headers, body, cookies = [] } = reply;
  const fields = Object.entries(headers).map(([name, value]): Field => [name.toLowerCase(), value]);
  fields.sort(byName);
  return isPlain(reply, fields)
    ? { status, fields: fieldsOf(fields), cookies, body }
    : answerFromResponse(toResponse(reply));
}

/** Whether these headers and this body can be sent as they are, without creating a Response. */
function isPlain({ status, body, cookies = [] }: Reply, fields: readonly Field[]): boolean {
  if (!cookies.every((cookie) => VALUE.test(cookie))) return false;
  if (!Number.isInteger(status) || status < 200 || status > 599) return false;
  if (body !== null && (status === 204 || status === 205 || status === 304)) return false;
  let hasType = typeof body !== 'string';
  let before = '';
  for (const [name, value] of fields) {
    if (name === before || name === 'set-cookie' || !NAME.test(name) || !VALUE.test(value))
      return false;
    if (name === 'content-type') hasType = true;
    before = name;
  }
  return hasType;
}

const NAME = /^[\w-]+$/;
/** Matches a header value of printable ASCII characters that does not start or end with a space. */
const VALUE = /^(?:[!-~](?:[ -~]*[!-~])?)?$/;

/** Converts a Response to the form that a Node server sends. */
export function answerFromResponse(response: Response): SentAnswer {
  const { status, headers } = response;
  const fields = fieldsOf([...headers].filter(([name]) => name !== 'set-cookie'));
  const body = readBodyText(response) ?? response.body;
  return { status, fields, cookies: headers.getSetCookie(), body };
}

/**
 * Returns the answer with its whole body in memory. If the body is an event stream, returns the
 * answer unchanged.
 */
export async function inOnePiece(answer: SentAnswer): Promise<SentAnswer> {
  const { body, fields } = answer;
  if (!(body instanceof ReadableStream)) return answer;
  const type = fields.find(({ name }) => name === 'content-type')?.value;
  if (type?.startsWith('text/event-stream') === true) return answer;
  return { ...answer, body: new Uint8Array(await new Response(body).arrayBuffer()) };
}

/** Cancels a body that is not sent. Otherwise, its source stays open, for example a file. */
export function cancelBody({ body }: SentAnswer): void {
  if (body instanceof ReadableStream) body.cancel().catch(() => undefined);
}

type Field = readonly [name: string, value: string];

function fieldsOf(fields: readonly Field[]): readonly SentField[] {
  const allowsOrigin = fields.some(([name]) => name === 'access-control-allow-origin');
  return fields.map(([name, value]) => ({ name, value, isAdded: isAddedTo(name, allowsOrigin) }));
}

function byName([one]: Field, [other]: Field): number {
  return one < other ? -1 : 1;
}
