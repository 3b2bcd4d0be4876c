/**
 * Whether a URL parser would leave this request target's path unchanged. The path must contain no
 * `.` or `..` segment (plain or percent-encoded), no backslash and no fragment. Otherwise, a proxy
 * rule or a guard could read another path than the router, and an attacker could bypass the rule or
 * guard.
 */
export function isLiteralTarget(target: string): boolean {
  const from = target.startsWith('/') ? target : target.replace(AUTHORITY, '');
  const query = from.indexOf('?');
  return !REWRITTEN.test(query < 0 ? from : from.slice(0, query));
}

/**
 * Matches the start of a target in absolute form, which clients send to proxies (RFC 9112 section
 * 3.2.2).
 */
const AUTHORITY = /^[^:/?#]+:\/\/[^/?#\\]*/;
const REWRITTEN = /[\\#]|\/(?:\.|%2e){1,2}(?:\/|$)/i;

/** Returns the path of a request's URL, percent-encoded. The URL is absolute and normalized. */
export function readPath(url: string): string {
  const from = url.indexOf('/', url.indexOf('://') + 3);
  const query = url.indexOf('?', from);
  const path = query < 0 ? url.slice(from) : url.slice(from, query);
  const fragment = path.indexOf('#');
  return fragment < 0 ? path : path.slice(0, fragment);
}
