/** Compares the workload names in tokens with the patterns of registered clients. */

/** The start of the id of a SPIFFE trust domain. A trust domain issues JWT-SVIDs. */
const SPIFFE = 'spiffe://';
/** Matches the id of a trust domain (SPIFFE-ID section 2.1). It is at most as long as an issuer. */
const TRUST_DOMAIN = /^spiffe:\/\/[a-z0-9._-]{1,246}$/;
/** Matches a SPIFFE ID with a path (SPIFFE-ID section 2.2). The group is its trust domain. */
const SPIFFE_ID = /^(spiffe:\/\/[a-z0-9._-]{1,246})\/[A-Za-z0-9._-]+(?:\/[A-Za-z0-9._-]+)*$/;
/** Matches visible ASCII characters. */
const SUBJECT = /^[\x21-\x7E]{1,255}$/;
/**
 * Matches the text that `*` can stand for: one whole segment of the characters that SPIFFE IDs
 * allow.
 */
const SEGMENT = /^[A-Za-z0-9._-]+$/;
/** Matches the segments `.` and `..`, which some programs treat as relative paths. */
const DOTS = /(?:^|\/)\.{1,2}(?:\/|$)/;

/** Whether this is the id of a SPIFFE trust domain, for example `spiffe://example.org`. */
export function isTrustDomain(issuer: string): boolean {
  return TRUST_DOMAIN.test(issuer);
}

/** Returns the trust domain of a SPIFFE ID, or null for any other value. */
export function trustDomainOf(subject: unknown): string | null {
  if (typeof subject !== 'string' || DOTS.test(subject.slice(SPIFFE.length))) return null;
  return SPIFFE_ID.exec(subject)?.[1] ?? null;
}

/**
 * Whether the pattern matches the subject. If the last segment of the pattern is `*`, it matches
 * any last segment. All other text must be equal. Segments end at `/` and `:`.
 */
export function matchesSubject(pattern: string, subject: string): boolean {
  if (!hasWildcard(pattern)) return subject === pattern;
  const prefix = pattern.slice(0, -1);
  const last = subject.slice(prefix.length);
  return subject.startsWith(prefix) && SEGMENT.test(last) && !DOTS.test(last);
}

/** Returns why the pattern is not allowed, or null. The reason continues a sentence. */
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
