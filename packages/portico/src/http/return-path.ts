/**
 * Returns the path on this host to which the browser returns after sign-in, percent-encoded.
 * Returns `home` (by default `/`) for any value that could be a URL of another host, for example
 * `//evil.example`, `/\evil.example` or an absolute URL. Also returns `home` for a value that is
 * not a string, because some body parsers return objects for form fields.
 *
 * @example
 * response.redirect(303, returnPath(request.body.return_to));
 */
export function returnPath(value: unknown, home = '/'): string {
  // Browsers remove tabs and line breaks, and treat a backslash as a slash.
  if (typeof value !== 'string' || !/^\/(?!\/)[^\\\p{Cc}]*$/u.test(value)) return home;
  const here = 'https://host.invalid';
  if (!URL.canParse(value, here)) return home;
  const url = new URL(value, here);
  // Write the path as browsers do, because a Location header can contain only ASCII.
  const path = `${url.pathname}${url.search}${url.hash}`;
  return url.origin === here && !path.startsWith('//') ? path : home;
}
