/**
 * Returns the path on this host where the browser continues after sign-in, percent-encoded. Returns
 * `home` (by default `/`) for any value that could be a URL of another host, for example
 * `//evil.example`, `/\evil.example` or an absolute URL, and for a value that is not a string: some
 * body parsers return objects for a field of a form.
 */
export function returnPath(value: unknown, home = '/'): string {
  // Reject tabs, line breaks and \, because browsers remove tabs and line breaks and read \ as /.
  if (typeof value !== 'string' || !/^\/(?!\/)[^\\\p{Cc}]*$/u.test(value)) return home;
  const here = 'https://host.invalid';
  if (!URL.canParse(value, here)) return home;
  const url = new URL(value, here);
  // Write the path as a browser would. A Location header can contain only ASCII.
  const path = `${url.pathname}${url.search}${url.hash}`;
  return url.origin === here && !path.startsWith('//') ? path : home;
}
