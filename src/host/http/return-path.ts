/**
 * Where to go after signing in: a path of this host, percent-encoded; `/` for everything that could lead elsewhere, such as
 * `//evil.example`, `/\evil.example` or an absolute URL.
 */
export function returnPath(value: string | null): string {
  // Browsers drop tabs and line breaks and read \ as /, so all of them are refused.
  if (value === null || !/^\/(?!\/)[^\\\p{Cc}]*$/u.test(value)) return '/';
  const here = 'https://host.invalid';
  if (!URL.canParse(value, here)) return '/';
  const url = new URL(value, here);
  // As a browser would write it: a Location header holds nothing but ASCII.
  const path = `${url.pathname}${url.search}${url.hash}`;
  return url.origin === here && !path.startsWith('//') ? path : '/';
}
