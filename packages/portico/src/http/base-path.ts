/**
 * `base_path` is a path such as `/auth`, or empty. All endpoints are below it. The issuer (RFC 8414
 * section 2) and the name or path of each cookie contain it.
 */

/**
 * Returns all problems with a base path. Allows only unreserved characters (RFC 3986 section 2.3).
 * They have one spelling, and no special meaning in routes or in a cookie's `Path`.
 */
export function basePathProblems(value: string): readonly string[] {
  return PROBLEMS.flatMap(([wrong, problem]) => (wrong.test(value) ? [problem] : []));
}

const PROBLEMS: readonly (readonly [wrong: RegExp, problem: string])[] = [
  [/^[^/]/, 'must begin with /'],
  [/\/$/, 'must not end with /; remove the slash at the end'],
  [/\/\//, 'must not have an empty segment'],
  [/(?:^|\/)\.{1,2}(?:\/|$)/, 'must not have a segment . or ..'],
  [/^\/\.well-known(?:\/|$)/, 'must not be below /.well-known'],
  [/\?/, 'must not have a query'],
  [/#/, 'must not have a fragment'],
  [/%/, 'must not be percent-encoded'],
  [/[^\w.~/?#%-]/, 'must have only letters, digits, - . _ and ~ between slashes'],
];

/**
 * Returns the problems with `base_path_stripped`. Without a base path, the proxy has nothing to
 * remove.
 */
export function strippedProblems(basePath: string, stripped: boolean): readonly string[] {
  return stripped && basePath === ''
    ? ['is true, but base_path is empty; set base_path to the prefix that the proxy removes']
    : [];
}

/**
 * Returns the name of a cookie for the whole origin. The name contains the base path, so two
 * installations on one origin use different cookies. The prefix `__Host-` allows only the path `/`.
 */
export function cookieNameBelow(basePath: string, name: string): string {
  return basePath === '' ? name : `${name}${encodeURIComponent(basePath)}`;
}
