/**
 * Returns the `Cache-Control` header for a public response with these directives. If the request
 * has cookies, only the browser may store the response. The application may add its session cookie
 * to the response, and a shared cache would send that cookie to other users.
 */
export function publicCacheControl({ headers }: Request, directives: string): string {
  return `${headers.has('cookie') ? 'private' : 'public'}, ${directives}`;
}
