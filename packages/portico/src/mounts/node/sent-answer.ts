import { isAddedTo } from '../../http/added-headers.ts';
import { readBodyText } from '../../http/body-text.ts';
import { toResponse, type Reply } from '../../endpoints/replies/responses.ts';

/** A response as a Node server sends it. */
export interface SentAnswer {
  readonly status: number;
  /** Names are in lower case. Sorted by name, without `set-cookie`. */
  readonly fields: readonly SentField[];
  /** The values of the `Set-Cookie` headers. */
  readonly cookies: readonly string[];
  /** Null if there is no body. */
  readonly body: string | Uint8Array | ReadableStream | null;
}

export interface SentField {
  readonly name: string;
  readonly value: string;
  /**
   * True if the value is added to the application's value of this header. False if it replaces it.
   */
  readonly isAdded: boolean;
}

/** Throws if the reply is not valid, as `new Response()` does. */
export function answerFromReply(reply: Reply): SentAnswer {
  const { status, headers, body, cookies = [] } = reply;
  const fields = Object.entries(headers).map(([name, value]): Field => [name.toLowerCase(), value]);
  fields.sort(byName);
  return isPlain(reply, fields)
    ? { status, fields: fieldsOf(fields), cookies, body }
    : answerFromResponse(toResponse(reply));
}

/** Returns true if these headers and this body can be sent without a Response. */
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
/** Printable ASCII characters, without a space at the start or the end. */
const VALUE = /^(?:[!-~](?:[ -~]*[!-~])?)?$/;

export function answerFromResponse(response: Response): SentAnswer {
  const { status, headers } = response;
  const fields = fieldsOf([...headers].filter(([name]) => name !== 'set-cookie'));
  const body = readBodyText(response) ?? response.body;
  return { status, fields, cookies: headers.getSetCookie(), body };
}

/** Returns the answer with its whole body in memory. An event stream stays a stream. */
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
