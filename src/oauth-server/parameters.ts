import { BodyTooLargeError, OAuthError } from './errors.ts';

/** The largest form body that is read, in bytes. */
export const FORM_LIMIT = 64 * 1024;

/**
 * The parameters of a request. One sent without a value counts as omitted, and one sent more than once is an error
 * (RFC 6749 sections 3.1 and 3.2).
 */
export interface Parameters {
  /** The value, or undefined when it was omitted. Throws `invalid_request` when it was sent more than once. */
  get(name: string): string | undefined;
  /** As `get`, but an omitted parameter is `invalid_request`. */
  require(name: string): string;
  /** Whether it was sent more than once. */
  isRepeated(name: string): boolean;
  /** Whether it was sent with a value. */
  has(name: string): boolean;
}

export function createParameters(values: URLSearchParams): Parameters {
  const parameters: Parameters = {
    get(name) {
      const [value, ...repeated] = values.getAll(name);
      if (repeated.length > 0) throw new OAuthError('invalid_request', `The parameter ${name} is repeated.`);
      return value === '' ? undefined : value;
    },
    require(name) {
      const value = parameters.get(name);
      if (value === undefined) throw new OAuthError('invalid_request', `The parameter ${name} is missing.`);
      return value;
    },
    isRepeated: (name) => values.getAll(name).length > 1,
    has: (name) => values.getAll(name).some((value) => value !== ''),
  };
  return parameters;
}

/** The parameters in the query of a request. */
export function queryParameters(request: Request): Parameters {
  return createParameters(new URL(request.url).searchParams);
}

/** The parameters of a form body; a repeated one is refused whatever it is. At most 64 KiB are read. */
export async function formParameters(request: Request): Promise<Parameters> {
  const mediaType = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  if (mediaType !== 'application/x-www-form-urlencoded') {
    throw new OAuthError('invalid_request', 'The body must be application/x-www-form-urlencoded.');
  }
  const values = new URLSearchParams(await readText(request));
  const names = [...values.keys()];
  if (new Set(names).size !== names.length)
    throw new OAuthError('invalid_request', 'A parameter is repeated.');
  return createParameters(values);
}

async function readText(request: Request): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.byteLength;
      if (size > FORM_LIMIT) break;
      chunks.push(chunk);
    }
  } catch {
    // The sender hung up, which is no fault of ours.
    throw new OAuthError('invalid_request', 'The body broke off.');
  }
  if (size > FORM_LIMIT) throw new BodyTooLargeError('The body is larger than 64 KiB.');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new OAuthError('invalid_request', 'The body is not UTF-8.');
  }
}
