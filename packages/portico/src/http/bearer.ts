/**
 * The credentials in an `Authorization` header: Bearer (RFC 6750 section 2.1) or another scheme.
 */
export interface BearerCredentials {
  /** Null if the scheme is not followed by exactly one well-formed token. */
  readonly token: string | null;
}

const patterns = new Map<string, RegExp>();

/**
 * The first alternative of the pattern matches the scheme and a well-formed token. The others match
 * the scheme and anything else.
 */
function buildPattern(scheme: string): RegExp {
  const known = patterns.get(scheme);
  if (known !== undefined) return known;
  // A scheme may contain characters such as "." and "*" (RFC 9110 section 11.1).
  const literal = scheme.replaceAll(/\W/g, String.raw`\$&`);
  const pattern = new RegExp(String.raw`^\s*${literal}(?: +([A-Za-z0-9\-._~+/]+=*)\s*$|\s|$)`, 'i');
  patterns.set(scheme, pattern);
  return pattern;
}

/**
 * Reads a Bearer token. Returns null without a header, or for another scheme. All code that reads
 * tokens from headers must call this function or `parseScheme`.
 */
export function parseBearer(authorization: string | null): BearerCredentials | null {
  return parseScheme('Bearer', authorization);
}

/** Like `parseBearer`, for another scheme. Call it only if the server accepts this scheme. */
export function parseScheme(
  scheme: string,
  authorization: string | null,
): BearerCredentials | null {
  const match = authorization === null ? null : buildPattern(scheme).exec(authorization);
  return match === null ? null : { token: match[1] ?? null };
}

/**
 * Returns true if the request uses Bearer or one of these schemes, even if its token is not valid.
 * Portico reads no session and no cookies from such a request, so the CSRF check can skip it.
 */
export function isBearerRequest(request: Request, schemes: readonly string[]): boolean {
  const authorization = request.headers.get('authorization');
  return (
    parseBearer(authorization) !== null ||
    schemes.some((scheme) => parseScheme(scheme, authorization) !== null)
  );
}

interface NodeRequest {
  /**
   * Names are in lower case. Of several `Authorization` headers, Node keeps only the first here.
   */
  readonly headers: { readonly authorization?: string | undefined };
  /** The headers as Node received them: name, value, name, value, and so on. */
  readonly rawHeaders?: readonly string[];
}

/**
 * Returns the `Authorization` header of a Node request. Joins several with commas (RFC 9110 section
 * 5.3), which is never a valid credential. Otherwise, the application or a proxy could check one
 * header while Portico reads another.
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
