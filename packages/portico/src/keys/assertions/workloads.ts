/** Compares the names of workloads in tokens with the patterns that clients are registered with. */

/** The start of a trust domain's id. In SPIFFE, trust domains issue JWT-SVIDs. */
const SPIFFE = 'spiffe://';
/**
 * Matches a trust domain's id (SPIFFE-ID section 2.1). Its maximum length is the same as for other
 * issuers.
 */
const TRUST_DOMAIN = /^spiffe:\/\/[a-z0-9._-]{1,246}$/;
/** Matches a SPIFFE ID with a path (SPIFFE-ID section 2.2). The group contains the trust domain. */
const SPIFFE_ID = /^(spiffe:\/\/[a-z0-9._-]{1,246})\/[A-Za-z0-9._-]+(?:\/[A-Za-z0-9._-]+)*$/;
/** Matches 1 to 255 visible ASCII characters. */
const SUBJECT = /^[\x21-\x7E]{1,255}$/;
/**
 * Matches the text that `*` can replace in a pattern: one whole segment, with the characters that
 * SPIFFE IDs allow.
 */
const SEGMENT = /^[A-Za-z0-9._-]+$/;
/** Matches the segments `.` and `..`, which some programs treat as relative paths. */
const DOTS = /(?:^|\/)\.{1,2}(?:\/|$)/;

/** Whether this is the id of a SPIFFE trust domain, for example `spiffe://example.org`. */
export function isTrustDomain(issuer: string): boolean {
  return TRUST_DOMAIN.test(issuer);
}

/** Returns the trust domain of a SPIFFE ID, or null if the value is not a SPIFFE ID. */
export function trustDomainOf(subject: unknown): string | null {
  if (typeof subject !== 'string' || DOTS.test(subject.slice(SPIFFE.length))) return null;
  return SPIFFE_ID.exec(subject)?.[1] ?? null;
}

/**
 * Whether the pattern matches the subject. A `*` as the last segment of the pattern matches any
 * last segment that is valid in a SPIFFE ID. All other text must be equal. Segments end at `/` and
 * `:`.
 */
export function matchesSubject(pattern: string, subject: string): boolean {
  if (!hasWildcard(pattern)) return subject === pattern;
  const prefix = pattern.slice(0, -1);
  const last = subject.slice(prefix.length);
  return subject.startsWith(prefix) && SEGMENT.test(last) && !DOTS.test(last);
}

/**
 * Returns why the pattern is not allowed, or null if it is. The caller writes the pattern before
 * the reason to form a sentence.
 */
export function subjectProblem(issuer: string, pattern: string): string | null {
  if (!SUBJECT.test(pattern)) return 'must have 1 to 255 visible ASCII characters';
  const fixed = hasWildcard(pattern) ? pattern.slice(0, -1) : pattern;
  if (fixed.includes('*'))
    return (
      'can have only one *, which must be the whole last segment after / or :, for ' +
      'example prod:*'
    );
  if (!isTrustDomain(issuer)) return null;
  // A trust domain may assert only names that are below its own id.
  const example = hasWildcard(pattern) ? `${fixed}a` : pattern;
  return trustDomainOf(example) === issuer ? null : `must be a SPIFFE ID below ${issuer}/`;
}

function hasWildcard(pattern: string): boolean {
  return pattern.endsWith('/*') || pattern.endsWith(':*');
}
