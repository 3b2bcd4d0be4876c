/**
 * For a page that is never framed and never stored, sends no referrer, runs no script and takes styles with this nonce.
 * `formAction` is where its forms may lead, in the words of a content security policy. Without it that is left open: Chromium
 * holds the whole chain of redirects behind a form against it. With `scripts` the page runs those with this nonce, which may ask this
 * origin alone.
 */
export function pageHeaders(
  nonce: string,
  formAction?: string,
  { scripts = false }: { readonly scripts?: boolean } = {},
): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    ...(scripts ? [`script-src 'nonce-${nonce}'`, "connect-src 'self'"] : []),
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
