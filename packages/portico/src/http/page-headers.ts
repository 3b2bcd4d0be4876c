/**
 * Returns headers for a page. The page is never framed or cached, sends no referrer, and runs no
 * scripts. Its styles need this nonce.
 *
 * - `formAction` lists the URLs that forms may be sent to, as in a content security policy. By
 *   default, forms are not restricted, because Chromium also applies the restriction to every
 *   redirect after a form.
 * - `scripts` allows scripts with this nonce. They may send requests only to this origin.
 * - `scriptHash`, for example `sha256-…`, allows one more script.
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
