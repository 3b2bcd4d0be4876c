/** Compares workloads in tokens with the patterns of registered clients. */

/** The start of a trust domain's id. SPIFFE trust domains issue JWT-SVIDs. */
const SPIFFE = 'spiffe://';
/** Matches a trust domain's id (SPIFFE-ID section 2.1). Its limit is that of other issuers. */
const TRUST_DOMAIN = /^spiffe:\/\/[a-z0-9._-]{1,246}$/;
/** Matches a SPIFFE ID with a path (SPIFFE-ID section 2.2). The group is the trust domain. */
const SPIFFE_ID = /^(spiffe:\/\/[a-z0-9._-]{1,246})\/[A-Za-z0-9._-]+(?:\/[A-Za-z0-9._-]+)*$/;
/** Matches 1 to 255 visible ASCII characters. */
const SUBJECT = /^[\x21-\x7E]{1,255}$/;
/**
 * A `*` in a pattern can replace one whole segment with these characters, which SPIFFE IDs allow.
 */
const SEGMENT = /^[A-Za-z0-9._-]+$/;
/** Some programs treat the segments `.` and `..` as relative paths. */
const DOTS = /(?:^|\/)\.{1,2}(?:\/|$)/;

/** For example `spiffe://example.org`. */
export function isTrustDomain(issuer: string): boolean {
  return TRUST_DOMAIN.test(issuer);
}

/** Returns null if the value is not a SPIFFE ID. */
export function trustDomainOf(subject: unknown): string | null {
  if (typeof subject !== 'string' || DOTS.test(subject.slice(SPIFFE.length))) return null;
  return SPIFFE_ID.exec(subject)?.[1] ?? null;
}

/**
 * A `*` as the last segment matches any last segment that a SPIFFE ID allows. All other text must
 * be equal. Segments end at `/` and `:`.
 */
export function matchesSubject(pattern: string, subject: string): boolean {
  if (!hasWildcard(pattern)) return subject === pattern;
  const prefix = pattern.slice(0, -1);
  const last = subject.slice(prefix.length);
  return subject.startsWith(prefix) && SEGMENT.test(last) && !DOTS.test(last);
}

/** Returns why the pattern is not allowed, or null. The pattern and the reason form a sentence. */
export function subjectProblem(issuer: string, pattern: string): string | null {
  if (!SUBJECT.test(pattern)) return 'must have 1 to 255 visible ASCII characters';
  const fixed = hasWildcard(pattern) ? pattern.slice(0, -1) : pattern;
  if (fixed.includes('*'))
    return (
      'can have only one *, which must be the whole last segment after / or :, for ' +
      'example prod:*'
    );
  if (!isTrustDomain(issuer)) return null;
  // A trust domain may assert only names below its own id.
  const example = hasWildcard(pattern) ? `${fixed}a` : pattern;
  return trustDomainOf(example) === issuer ? null : `must be a SPIFFE ID below ${issuer}/`;
}

function hasWildcard(pattern: string): boolean {
  return pattern.endsWith('/*') || pattern.endsWith(':*');
}
