/**
 * The credentials from an `Authorization` header with the scheme Bearer (RFC 6750 section 2.1) or
 * another token scheme.
 */
export interface BearerCredentials {
  /** The token. Null if the scheme is not followed by exactly one well-formed token. */
  readonly token: string | null;
}

const patterns = new Map<string, RegExp>();

/**
 * Returns a pattern for a scheme. The first alternative matches the scheme and a well-formed token.
 * The other alternatives match the scheme and anything else.
 */
function buildPattern(scheme: string): RegExp {
  const known = patterns.get(scheme);
  if (known !== undefined) return known;
  // The name of a scheme may contain characters such as "." and "*" (RFC 9110 section 11.1).
  const literal = scheme.replaceAll(/\W/g, String.raw`\$&`);
  const pattern = new RegExp(String.raw`^\s*${literal}(?: +([A-Za-z0-9\-._~+/]+=*)\s*$|\s|$)`, 'i');
  patterns.set(scheme, pattern);
  return pattern;
}

/**
 * Reads a Bearer token. Returns null if there is no header or the header has another scheme. All
 * code that reads tokens from headers must call this function or `parseScheme`.
 */
export function parseBearer(authorization: string | null): BearerCredentials | null {
  return parseScheme('Bearer', authorization);
}

/**
 * Reads a token with another scheme, as `parseBearer` does for Bearer. Call this function only if
 * the server accepts this scheme.
 */
export function parseScheme(
  scheme: string,
  authorization: string | null,
): BearerCredentials | null {
  const match = authorization === null ? null : buildPattern(scheme).exec(authorization);
  return match === null ? null : { token: match[1] ?? null };
}

/**
 * Whether a request has an `Authorization` header with Bearer or one of these schemes, even if the
 * token is not valid. The CSRF check can skip such a request, because Portico reads no session and
 * no cookies from it.
 */
export function isBearerRequest(request: Request, schemes: readonly string[]): boolean {
  const authorization = request.headers.get('authorization');
  return (
    parseBearer(authorization) !== null ||
    schemes.some((scheme) => parseScheme(scheme, authorization) !== null)
  );
}

/** A Node request or a request of a framework that is built on Node. */
interface NodeRequest {
  /**
   * The request's headers, with names in lower case. If the request has several `Authorization`
   * headers, contains only the first.
   */
  readonly headers: { readonly authorization?: string | undefined };
  /** The headers as Node received them: a name, its value, the next name, its value, and so on. */
  readonly rawHeaders?: readonly string[];
}

/**
 * Returns the `Authorization` header of a Node request. If there are several, joins them with
 * commas (RFC 9110 section 5.3). The joined value is never a valid credential. Otherwise, the
 * application or a proxy could check one header while Portico reads another.
 */
export function readAuthorization({ headers, rawHeaders = [] }: NodeRequest): string | null {
  const { authorization = null } = headers;
  if (authorization === null) return null;
  let sent = 0;
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (isAuthorization(rawHeaders[index])) sent += 1;
  if (sent < 2) return authorization;
  return rawHeaders
    .filter((_, index) => index % 2 === 1 && isAuthorization(rawHeaders[index - 1]))
    .join(', ');
}

function isAuthorization(name = ''): boolean {
  return name.length === 13 && name.toLowerCase() === 'authorization';
}
