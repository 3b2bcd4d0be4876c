/**
 * The path of the endpoints on their origin: `base_path`. It is empty, or a path such as `/auth`.
 * It is part of the issuer (RFC 8414 section 2), of every endpoint's path, and of the names or
 * paths of cookies.
 */

/**
 * Returns all problems of a base path. The list is empty for a valid or empty path. Only unreserved
 * characters (RFC 3986 section 2.3) are allowed. They can be written in only one way, and have no
 * special meaning in routers or in a cookie's `Path`.
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
 * Returns the problems of `base_path_stripped`. This setting requires a base path that the proxy
 * can remove.
 */
export function strippedProblems(basePath: string, stripped: boolean): readonly string[] {
  return stripped && basePath === ''
    ? ['is true, but base_path is empty; set base_path to the prefix that the proxy removes']
    : [];
}

/**
 * Returns the name of a cookie for the whole origin. The name contains the base path, so that two
 * installations on one origin use different cookies. They cannot use different cookie paths,
 * because the prefix `__Host-` requires the path `/`.
 */
export function cookieNameBelow(basePath: string, name: string): string {
  return basePath === '' ? name : `${name}${encodeURIComponent(basePath)}`;
}
