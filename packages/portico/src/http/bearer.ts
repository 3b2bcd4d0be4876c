/** An `Authorization` header of the scheme Bearer (RFC 6750 section 2.1), or of another one that carries a token. */
export interface BearerCredentials {
  /** Null when what follows the scheme is not exactly one well-formed token. */
  readonly token: string | null;
}

const patterns = new Map<string, RegExp>();

/** The first alternative is a well-formed token; the others are the scheme with anything else behind it. */
function patternOf(scheme: string): RegExp {
  const known = patterns.get(scheme);
  if (known !== undefined) return known;
  const pattern = new RegExp(String.raw`^\s*${scheme}(?: +([A-Za-z0-9\-._~+/]+=*)\s*$|\s|$)`, 'i');
  patterns.set(scheme, pattern);
  return pattern;
}

/** The one place that reads scheme and token. Null without the header, and for another scheme. */
export function parseBearer(authorization: string | null): BearerCredentials | null {
  return parseScheme('Bearer', authorization);
}

/** The same for another scheme, which is a word of letters, to be asked for where that is switched on. */
export function parseScheme(scheme: string, authorization: string | null): BearerCredentials | null {
  const match = authorization === null ? null : patternOf(scheme).exec(authorization);
  return match === null ? null : { token: match[1] ?? null };
}

/**
 * Whether a request carries an `Authorization: Bearer` header, valid or not, or one of these schemes, which tokens come in, too.
 * Such a request has no session: it passes the CSRF check, which is safe because there is nothing that it could abuse, and it
 * can never fall back to a cookie.
 */
export function isBearerRequest(request: Request, schemes: readonly string[]): boolean {
  const authorization = request.headers.get('authorization');
  return (
    parseBearer(authorization) !== null ||
    schemes.some((scheme) => parseScheme(scheme, authorization) !== null)
  );
}

/** A request as Node and the frameworks on it have it. */
interface NodeRequest {
  /** Header fields, by names in lower case: of several `Authorization` this is the first. */
  readonly headers: { readonly authorization?: string | undefined };
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders?: readonly string[];
}

/**
 * The `Authorization` header of Node's request. Several are one value, with commas (RFC 9110 section 5.3): no token and no
 * credentials, whichever of them the application or a proxy before it has looked at.
 */
export function authorizationOf({ headers, rawHeaders = [] }: NodeRequest): string | null {
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
