/**
 * An `Authorization` header with the scheme Bearer (RFC 6750 section 2.1), or with another scheme
 * for tokens.
 */
export interface BearerCredentials {
  /** Null unless exactly one well-formed token follows the scheme. */
  readonly token: string | null;
}

const patterns = new Map<string, RegExp>();

/**
 * The first alternative is a well-formed token. The others are the scheme followed by anything
 * else.
 */
function buildPattern(scheme: string): RegExp {
  const known = patterns.get(scheme);
  if (known !== undefined) return known;
  // A scheme may have characters such as "." and "*" (RFC 9110 section 11.1).
  const literal = scheme.replaceAll(/\W/g, String.raw`\$&`);
  const pattern = new RegExp(String.raw`^\s*${literal}(?: +([A-Za-z0-9\-._~+/]+=*)\s*$|\s|$)`, 'i');
  patterns.set(scheme, pattern);
  return pattern;
}

/**
 * Reads a Bearer token. All code uses this function or `parseScheme`. Null without the header, and
 * for another scheme.
 */
export function parseBearer(authorization: string | null): BearerCredentials | null {
  return parseScheme('Bearer', authorization);
}

/**
 * As `parseBearer`, for another scheme. Call it only where that scheme is switched
 * on.
 */
export function parseScheme(scheme: string, authorization: string | null): BearerCredentials | null {
  const match = authorization === null ? null : buildPattern(scheme).exec(authorization);
  return match === null ? null : { token: match[1] ?? null };
}

/**
 * Whether a request has an `Authorization: Bearer` header, valid or not, or one with another of
 * these token schemes. Such a request has no session. So it may skip the CSRF check, because there
 * is nothing to abuse, and it never falls back to a cookie.
 */
export function isBearerRequest(request: Request, schemes: readonly string[]): boolean {
  const authorization = request.headers.get('authorization');
  return (
    parseBearer(authorization) !== null ||
    schemes.some((scheme) => parseScheme(scheme, authorization) !== null)
  );
}

/** A request of Node, and of frameworks that build on it. */
interface NodeRequest {
  /**
   * Header fields, with names in lower case. Has only the first of several `Authorization` fields.
   */
  readonly headers: { readonly authorization?: string | undefined };
  /** Alternating names and values as they were sent. */
  readonly rawHeaders?: readonly string[];
}

/**
 * The `Authorization` header of Node's request. Several fields become one value, joined by commas
 * (RFC 9110 section 5.3), which is not a valid token or credential. So it does not matter which one
 * the application or a proxy has checked.
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
