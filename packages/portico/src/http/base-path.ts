/**
 * Where the endpoints are on their origin: below `base_path`, which is empty or such as `/auth`. It is part of the issuer (RFC
 * 8414 section 2), of every endpoint's path, and of the names or paths of cookies.
 */

/**
 * All that is wrong with a base path; empty for a good one, the empty one too. Only unreserved characters (RFC 3986 section 2.3)
 * are taken: they are written in one way alone, and mean nothing to routers, nor in a cookie's `Path`.
 */
export function basePathProblems(value: string): readonly string[] {
  return PROBLEMS.flatMap(([wrong, problem]) => (wrong.test(value) ? [problem] : []));
}

const PROBLEMS: readonly (readonly [wrong: RegExp, problem: string])[] = [
  [/^[^/]/, 'must begin with /'],
  [/\/$/, 'must not end with /; leave it out for the whole origin'],
  [/\/\//, 'must not have an empty segment'],
  [/(?:^|\/)\.{1,2}(?:\/|$)/, 'must not have a segment . or ..'],
  [/^\/\.well-known(?:\/|$)/, 'must not lie in /.well-known, which is for documents in front of it'],
  [/\?/, 'must not have a query'],
  [/#/, 'must not have a fragment'],
  [/%/, 'must not be percent-encoded'],
  [/[^\w.~/?#%-]/, 'must have no characters but letters, digits, - . _ and ~ between slashes'],
];

/** What is wrong with `base_path_stripped`: there must be something that a proxy takes away. */
export function strippedProblems(basePath: string, stripped: boolean): readonly string[] {
  return stripped && basePath === ''
    ? ['is true while base_path is empty; set base_path to what the proxy takes away']
    : [];
}

/**
 * The name of a cookie whose path is the whole origin: another installation below another base path has cookies of its own. The
 * name, and not the path, keeps them apart, so that the prefix `__Host-` is possible.
 */
export function cookieNameBelow(basePath: string, name: string): string {
  return basePath === '' ? name : `${name}${encodeURIComponent(basePath)}`;
}
