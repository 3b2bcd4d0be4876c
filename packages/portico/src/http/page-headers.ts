/**
 * Returns the headers for a page. Other pages cannot frame it. Browsers do not cache it, send no
 * referrer, and by default run no scripts. Its styles must have this nonce or come from a file of
 * this origin.
 *
 * - `formAction` lists where forms may be sent, in the syntax of a content security policy.
 *   Default: any URL, because Chromium also checks every redirect after a form.
 * - `scripts` allows scripts with this nonce. They may send requests only to this origin.
 * - `scriptHash` allows one more script by its hash, for example `sha256-…`.
 *
 * @example
 * return new Response(html, { headers: pageHeaders(nonce) });
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
