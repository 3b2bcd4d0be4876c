/**
 * Whether a URL parser would leave the path of this request target unchanged. The path must contain
 * no backslash, no fragment, and no `.` or `..` segment (plain or percent-encoded). Otherwise, a
 * proxy or a guard could see a different path than the router, and an attacker could bypass the
 * proxy's rule or the guard.
 */
export function isLiteralTarget(target: string): boolean {
  const from = target.startsWith('/') ? target : target.replace(AUTHORITY, '');
  if (!/^(?:[/?]|\*?$)/.test(from)) return false;
  const query = from.indexOf('?');
  return !REWRITTEN.test(query < 0 ? from : from.slice(0, query));
}

/**
 * Matches the start of a request target in absolute form, which clients send to proxies (RFC 9112
 * section 3.2.2). Does not match an empty authority or one with a user name, because a URL parser
 * would read a different path or refuse the URL.
 */
const AUTHORITY = /^[^:/?#]+:\/\/[^/?#\\@]+/;
const REWRITTEN = /[\\#]|\/(?:\.|%2e){1,2}(?:\/|$)/i;

/** Returns the percent-encoded path of a request's URL. The URL must be absolute and normalized. */
export function readPath(url: string): string {
  const from = url.indexOf('/', url.indexOf('://') + 3);
  const query = url.indexOf('?', from);
  const path = query < 0 ? url.slice(from) : url.slice(from, query);
  const fragment = path.indexOf('#');
  return fragment < 0 ? path : path.slice(0, fragment);
}
