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

/**
 * Returns the path and query of a request target, as the client sent them. Removes the scheme and
 * the authority of a target in absolute form. Leaves other targets unchanged.
 *
 * Use this function only if the framework's router does the same. Otherwise, the host's guards
 * could see a different path than the endpoints.
 */
export function toOriginForm(target: string): string {
  return target.replace(HTTP_AUTHORITY, '');
}

/**
 * Matches the start of an absolute target that has a path. Does not match an authority with a user
 * name or with unusual characters, because Node's `url.parse` moves some of these into the path.
 * Express and Koa use `url.parse`.
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
