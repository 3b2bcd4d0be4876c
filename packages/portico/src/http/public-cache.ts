/**
 * Returns true if only the browser may store a public response. If the request has cookies, the
 * application may add its session cookie to the response. A shared cache would send that cookie to
 * other users.
 */
export function isForBrowserOnly({ headers }: Request): boolean {
  return headers.has('cookie');
}

/**
 * Returns `Cache-Control` for a public response. Shared caches may store the response, unless the
 * request has cookies.
 */
export function publicCacheControl(request: Request, directives: string): string {
  return `${isForBrowserOnly(request) ? 'private' : 'public'}, ${directives}`;
}
