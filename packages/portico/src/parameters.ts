import { readText, type BodyFailure } from './http/body.ts';
import { readMediaType } from './http/media-types.ts';
import { BodyTooLargeError, OAuthError } from './errors.ts';
import { quoted, quotedList } from './quoting.ts';

/** The largest form body that is read, in bytes. */
export const FORM_LIMIT = 64 * 1024;

/**
 * The parameters of a request. One without a value counts as omitted, and a repeated one is an
 * error (RFC 6749 sections 3.1 and 3.2).
 */
export interface Parameters {
  /** The value, or undefined if it was omitted. Throws `invalid_request` if it was repeated. */
  get(name: string): string | undefined;
  /** As `get`, but an omitted parameter is `invalid_request`. */
  require(name: string): string;
  /** Whether it was sent more than once. */
  isRepeated(name: string): boolean;
  /** Every value as it was sent, including empty ones. */
  all(name: string): readonly string[];
  /** Whether it was sent with a value. */
  has(name: string): boolean;
  /** The first value of each name, including empty ones. */
  readonly values: ReadonlyMap<string, string>;
}

/** The parameters in the query of a request. */
export function queryParameters(request: Request): Parameters {
  return createParameters(new URL(request.url).searchParams);
}

/** The parameters of a form body of at most 64 KiB. Refuses a repeated one, whatever its name. */
export async function formParameters(request: Request): Promise<Parameters> {
  return unrepeated(await readForm(request));
}

/** The fields of a form body of at most 64 KiB. */
export async function readForm(request: Request): Promise<URLSearchParams> {
  if (!isForm(request)) {
    const sent = request.headers.get('content-type');
    throw new OAuthError(
      'invalid_request',
      'The body must be application/x-www-form-urlencoded.',
      sent === null ? 'it has no Content-Type' : `its Content-Type is ${quoted(sent)}`,
    );
  }
  const body = await readText(request, FORM_LIMIT, refuseBody);
  // The constructor would remove a question mark at the beginning, as if this was a query.
  return new URLSearchParams(body.startsWith('?') ? `&${body}` : body);
}

/** Like `createParameters`, but refuses a repeated parameter at once, whatever its name. */
export function unrepeated(sent: URLSearchParams): Parameters {
  const { parameters, repeated } = readParameters(sent);
  if (repeated.size > 0) {
    const detail = `repeated: ${quotedList([...repeated])}`;
    throw new OAuthError('invalid_request', 'A parameter is repeated.', detail);
  }
  return parameters;
}

/** Whether the body is declared as a form (RFC 6749 appendix B). */
export function isForm(request: Request): boolean {
  return readMediaType(request.headers.get('content-type')) === 'application/x-www-form-urlencoded';
}

export function createParameters(sent: URLSearchParams): Parameters {
  return readParameters(sent).parameters;
}

/** The parameters, and the repeated names. */
function readParameters(sent: URLSearchParams) {
  const values = new Map<string, string>();
  const repeated = new Set<string>();
  const withValue = new Set<string>();
  for (const [name, value] of sent) {
    if (values.has(name)) repeated.add(name);
    else values.set(name, value);
    if (value !== '') withValue.add(name);
  }
  const parameters: Parameters = {
    get(name) {
      if (repeated.has(name)) throw new OAuthError('invalid_request', `The parameter ${name} is repeated.`);
      const value = values.get(name);
      return value === '' ? undefined : value;
    },
    require(name) {
      const value = parameters.get(name);
      if (value === undefined) throw new OAuthError('invalid_request', `The parameter ${name} is missing.`);
      return value;
    },
    isRepeated: (name) => repeated.has(name),
    all: (name) => sent.getAll(name),
    has: (name) => withValue.has(name),
    values,
  };
  return { parameters, repeated };
}

/** A sender who disconnects is not our fault. */
function refuseBody(failure: BodyFailure): never {
  if (failure === 'too large') throw new BodyTooLargeError('The body is larger than 64 KiB.');
  throw new OAuthError(
    'invalid_request',
    failure === 'broke off' ? 'The body broke off.' : 'The body is not UTF-8.',
  );
}
