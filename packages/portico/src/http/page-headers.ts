/**
 * For a page that is never framed and never stored, sends no referrer, runs no script and takes styles with this nonce.
 * `formAction` is where its forms may lead, in the words of a content security policy. Without it that is left open: Chromium
 * holds the whole chain of redirects behind a form against it. With `scripts` the page runs those with this nonce, which may ask this
 * origin alone. `scriptHash` is of one more script that the page may run, such as `sha256-…`.
 */
export function pageHeaders(
  nonce: string,
  formAction?: string,
  {
    scripts = false,
    scriptHash,
  }: { readonly scripts?: boolean; readonly scriptHash?: string | undefined } = {},
): Readonly<Record<string, string>> {
  const allowed = [
    ...(scripts ? [`'nonce-${nonce}'`] : []),
    ...(scriptHash === undefined ? [] : [`'${scriptHash}'`]),
  ];
  const policy = [
    "default-src 'none'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    ...(allowed.length > 0 ? [`script-src ${allowed.join(' ')}`] : []),
    ...(scripts ? ["connect-src 'self'"] : []),
    ...(formAction === undefined ? [] : [`form-action ${formAction}`]),
  ];
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy.join('; '),
    'X-Frame-Options': 'DENY',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
  };
}
