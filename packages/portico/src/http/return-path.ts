/**
 * Returns where to go after sign-in: a percent-encoded path on this host. For any value that could
 * lead to another host, for example `//evil.example`, `/\evil.example` or an absolute URL, returns
 * `home` (by default `/`).
 */
export function returnPath(value: string | null, home = '/'): string {
  // Refuse tabs, line breaks and \: browsers drop tabs and line breaks, and read \ as /.
  if (value === null || !/^\/(?!\/)[^\\\p{Cc}]*$/u.test(value)) return home;
  const here = 'https://host.invalid';
  if (!URL.canParse(value, here)) return home;
  const url = new URL(value, here);
  // Write the path as a browser would, because a Location header can contain only ASCII.
  const path = `${url.pathname}${url.search}${url.hash}`;
  return url.origin === here && !path.startsWith('//') ? path : home;
}
