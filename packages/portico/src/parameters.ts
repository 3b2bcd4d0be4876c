import { readFormText, type BodyFailure } from './http/body.ts';
import { readMediaType } from './http/media-types.ts';
import { BodyTooLargeError, OAuthError } from './errors.ts';
import { quoted, quotedList } from './quoting.ts';

/** In bytes. */
export const FORM_LIMIT = 64 * 1024;

/**
 * The parameters of a request. A parameter without a value counts as missing. A repeated parameter
 * is an error (RFC 6749 sections 3.1 and 3.2).
 */
export interface Parameters {
  /** Returns undefined if the parameter is missing. Throws `invalid_request` if it is repeated. */
  get(name: string): string | undefined;
  /** Like `get`, but throws `invalid_request` if the parameter is missing. */
  require(name: string): string;
  /** Returns whether the parameter is repeated. */
  isRepeated(name: string): boolean;
  /** Returns every value of the parameter as the client sent it, including empty values. */
  all(name: string): readonly string[];
  /** Returns whether the parameter has a value. */
  has(name: string): boolean;
  /** The first value of each parameter, including empty values. */
  readonly values: ReadonlyMap<string, string>;
}

/** Returns the parameters in the request's query. */
export function queryParameters(request: Request): Parameters {
  return createParameters(new URL(request.url).searchParams);
}

/**
 * Returns the parameters of a form body of at most 64 KiB. Throws if any parameter is repeated,
 * even an unknown one.
 */
export async function formParameters(request: Request): Promise<Parameters> {
  return unrepeated(await readForm(request));
}

/** Reads a form body of at most 64 KiB. */
export async function readForm(request: Request): Promise<URLSearchParams> {
  if (!isForm(request)) {
    const sent = request.headers.get('content-type');
    throw new OAuthError(
      'invalid_request',
      'The body must be application/x-www-form-urlencoded.',
      sent === null ? 'it has no Content-Type' : `its Content-Type is ${quoted(sent)}`,
    );
  }
  const body = await readFormText(request, FORM_LIMIT, refuseBody);
  // The constructor would remove a leading question mark, because it expects a query. Put `&`
  // before it.
  return new URLSearchParams(body.startsWith('?') ? `&${body}` : body);
}

/**
 * Like `createParameters`, but throws immediately if any parameter is repeated, even an unknown
 * one.
 */
export function unrepeated(sent: URLSearchParams): Parameters {
  const { parameters, repeated } = readParameters(sent);
  if (repeated.size > 0) {
    const detail = `repeated: ${quotedList([...repeated])}`;
    throw new OAuthError('invalid_request', 'A parameter is repeated.', detail);
  }
  return parameters;
}

/** RFC 6749 appendix B. */
export function isForm(request: Request): boolean {
  return readMediaType(request.headers.get('content-type')) === 'application/x-www-form-urlencoded';
}

export function createParameters(sent: URLSearchParams): Parameters {
  return readParameters(sent).parameters;
}

/** Returns the parameters, and the names of repeated ones. */
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
      if (repeated.has(name))
        throw new OAuthError('invalid_request', `The parameter ${name} is repeated.`);
      const value = values.get(name);
      return value === '' ? undefined : value;
    },
    require(name) {
      const value = parameters.get(name);
      if (value === undefined)
        throw new OAuthError('invalid_request', `The parameter ${name} is missing.`);
      return value;
    },
    isRepeated: (name) => repeated.has(name),
    all: (name) => sent.getAll(name),
    has: (name) => withValue.has(name),
    values,
  };
  return { parameters, repeated };
}

/** If the sender disconnected, the error is `invalid_request`: the server did nothing wrong. */
export function refuseBody(failure: BodyFailure): never {
  if (failure === 'too large') throw new BodyTooLargeError('The body is larger than 64 KiB.');
  throw new OAuthError(
    'invalid_request',
    failure === 'broke off' ? 'The body broke off.' : 'The body is not UTF-8.',
  );
}
