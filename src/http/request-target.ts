/**
 * Whether the path of a request's target is what a URL parser leaves as it is: without `.` and `..`, written out or
 * percent-encoded, without backslashes and without a fragment. Of anything else two readers make two paths, and what was put
 * before one of them (a proxy's rule, a guard) does not stand before the other.
 */
export function isLiteralTarget(target: string): boolean {
  const from = target.startsWith('/') ? target : target.replace(AUTHORITY, '');
  const query = from.indexOf('?');
  return !REWRITTEN.test(query < 0 ? from : from.slice(0, query));
}

/** Of a target in absolute form, as a proxy is sent one (RFC 9112 section 3.2.2). */
const AUTHORITY = /^[^:/?#]+:\/\/[^/?#\\]*/;
const REWRITTEN = /[\\#]|\/(?:\.|%2e){1,2}(?:\/|$)/i;
