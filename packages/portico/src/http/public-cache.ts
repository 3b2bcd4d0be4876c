/**
 * Whether only the browser may store the response, although its content is public. If the request
 * has cookies, the application may add its session cookie to the response, and a shared cache would
 * send that cookie to other users.
 */
export function isForBrowserOnly({ headers }: Request): boolean {
  return headers.has('cookie');
}

/**
 * Returns the `Cache-Control` header for a public response with these directives. Shared caches may
 * store it, unless the request has cookies (`isForBrowserOnly`).
 */
export function publicCacheControl(request: Request, directives: string): string {
  return `${isForBrowserOnly(request) ? 'private' : 'public'}, ${directives}`;
}
