/**
 * Returns the `Cache-Control` of a public response with these directives. If the request has
 * cookies, only the browser may store the response. An application may add its session cookie to
 * each response, and a shared cache would send this cookie to other users.
 */
export function publicCacheControl({ headers }: Request, directives: string): string {
  return `${headers.has('cookie') ? 'private' : 'public'}, ${directives}`;
}
