/**
 * Whether a URL parser keeps this request target's path unchanged. The target must have no `.` or
 * `..` (plain or percent-encoded), no backslash and no fragment. For any other target, a proxy rule
 * or a guard could read another path than the router does. An attacker could then get around the
 * rule.
 */
export function isLiteralTarget(target: string): boolean {
  const from = target.startsWith('/') ? target : target.replace(AUTHORITY, '');
  const query = from.indexOf('?');
  return !REWRITTEN.test(query < 0 ? from : from.slice(0, query));
}

/**
 * Matches the beginning of a target in absolute form, which clients send to proxies (RFC 9112
 * section 3.2.2).
 */
const AUTHORITY = /^[^:/?#]+:\/\/[^/?#\\]*/;
const REWRITTEN = /[\\#]|\/(?:\.|%2e){1,2}(?:\/|$)/i;

/**
 * Returns the path of a request's URL, which is absolute and normalized. The path stays
 * percent-encoded.
 */
export function readPath(url: string): string {
  const from = url.indexOf('/', url.indexOf('://') + 3);
  const query = url.indexOf('?', from);
  const path = query < 0 ? url.slice(from) : url.slice(from, query);
  const fragment = path.indexOf('#');
  return fragment < 0 ? path : path.slice(0, fragment);
}
