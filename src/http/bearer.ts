/** An `Authorization` header of the scheme Bearer (RFC 6750 section 2.1). */
export interface BearerCredentials {
  /** Null when what follows the scheme is not exactly one well-formed token. */
  readonly token: string | null;
}

/** The first alternative is a well-formed token; the others are the scheme with anything else behind it. */
const BEARER = /^\s*Bearer(?: +([A-Za-z0-9\-._~+/]+=*)\s*$|\s|$)/i;

/** The one place that reads scheme and token. Null without the header, and for another scheme. */
export function parseBearer(authorization: string | null): BearerCredentials | null {
  const match = authorization === null ? null : BEARER.exec(authorization);
  return match === null ? null : { token: match[1] ?? null };
}

/**
 * Whether a request carries an `Authorization: Bearer` header, valid or not. Such a request has no session: it passes the
 * CSRF check, which is safe because there is nothing that it could abuse, and it can never fall back to a cookie.
 */
export function isBearerRequest(request: Request): boolean {
  return parseBearer(request.headers.get('authorization')) !== null;
}
