/**
 * Whether a URL parser keeps the path of this request target unchanged: it has no `.` or `..`,
 * plain or percent-encoded, no backslash and no fragment. A proxy rule or a guard could read any
 * other target as another path than the router does, and be bypassed.
 */
export function isLiteralTarget(target: string): boolean {
  const from = target.startsWith('/') ? target : target.replace(AUTHORITY, '');
  const query = from.indexOf('?');
  return !REWRITTEN.test(query < 0 ? from : from.slice(0, query));
}

/** The beginning of a target in absolute form, as sent to proxies (RFC 9112 section 3.2.2). */
const AUTHORITY = /^[^:/?#]+:\/\/[^/?#\\]*/;
const REWRITTEN = /[\\#]|\/(?:\.|%2e){1,2}(?:\/|$)/i;

/** The path of a request's URL, which is absolute and normalized. Stays percent-encoded. */
export function readPath(url: string): string {
  const from = url.indexOf('/', url.indexOf('://') + 3);
  const query = url.indexOf('?', from);
  const path = query < 0 ? url.slice(from) : url.slice(from, query);
  const fragment = path.indexOf('#');
  return fragment < 0 ? path : path.slice(0, fragment);
}
