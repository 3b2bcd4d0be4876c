/**
 * Whether a URL parser leaves the path of this request target as it is: it has no `.` or `..`, plain or percent-encoded, no
 * backslash and no fragment. A proxy's rule or a guard may read any other target as another path than the router does, and be
 * bypassed.
 */
export function isLiteralTarget(target: string): boolean {
  const from = target.startsWith('/') ? target : target.replace(AUTHORITY, '');
  const query = from.indexOf('?');
  return !REWRITTEN.test(query < 0 ? from : from.slice(0, query));
}

/** The beginning of a target in absolute form, as proxies are sent it (RFC 9112 section 3.2.2). */
const AUTHORITY = /^[^:/?#]+:\/\/[^/?#\\]*/;
const REWRITTEN = /[\\#]|\/(?:\.|%2e){1,2}(?:\/|$)/i;

/** The path in the URL of a request, which is absolute and normalised; as it stands there, percent-encoded. */
export function pathOf(url: string): string {
  const from = url.indexOf('/', url.indexOf('://') + 3);
  const query = url.indexOf('?', from);
  const path = query < 0 ? url.slice(from) : url.slice(from, query);
  const fragment = path.indexOf('#');
  return fragment < 0 ? path : path.slice(0, fragment);
}
