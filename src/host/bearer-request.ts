/**
 * Whether a request carries an `Authorization: Bearer` header, valid or not. Such a request has no session: it passes the
 * CSRF check, which is safe because there is nothing that it could abuse, and it can never fall back to a cookie.
 */
export function isBearerRequest(request: Request): boolean {
  return /^\s*Bearer(\s|$)/i.test(request.headers.get('authorization') ?? '');
}
