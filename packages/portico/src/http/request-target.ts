/**
 * Returns true if a URL parser leaves the path of this request target unchanged: no backslash, no
 * fragment, and no `.` or `..` segment (plain or percent-encoded). For any other target, a proxy or
 * a guard could see another path than the router. An attacker could then bypass its rules.
 */
export function isLiteralTarget(target: string): boolean {
  const from = target.startsWith('/') ? target : target.replace(AUTHORITY, '');
  if (!/^(?:[/?]|\*?$)/.test(from)) return false;
  const query = from.indexOf('?');
  return !REWRITTEN.test(query < 0 ? from : from.slice(0, query));
}

/**
 * Matches the start of a target in absolute form, which clients send to proxies (RFC 9112 section
 * 3.2.2). The authority must not be empty or have a user name. A URL parser would read another path
 * or refuse the URL.
 */
const AUTHORITY = /^[^:/?#]+:\/\/[^/?#\\@]+/;
const REWRITTEN = /[\\#]|\/(?:\.|%2e){1,2}(?:\/|$)/i;

/**
 * Returns the path and query of a target, as the client sent them. Removes the scheme and the
 * authority of an absolute target.
 *
 * Use this function only if the framework's router does the same. Otherwise, the host's guards
 * could see another path than the endpoints.
 */
export function toOriginForm(target: string): string {
  return target.replace(HTTP_AUTHORITY, '');
}

/**
 * Matches the start of an absolute target with a path. The authority must not have a user name or
 * unusual characters. Node's `url.parse` moves some of these into the path, and Express and Koa use
 * it.
 */
const HTTP_AUTHORITY = /^https?:\/\/(?:[\w.-]+|\[[\da-f:.]+\])(?::\d*)?(?=\/)/i;

/** Returns the percent-encoded path of a request's URL. The URL must be absolute and normalized. */
export function readPath(url: string): string {
  const from = url.indexOf('/', url.indexOf('://') + 3);
  const query = url.indexOf('?', from);
  const path = query < 0 ? url.slice(from) : url.slice(from, query);
  const fragment = path.indexOf('#');
  return fragment < 0 ? path : path.slice(0, fragment);
}
