/**
 * Where to go after signing in: a path of this host, as it came; `/` for everything that could lead elsewhere, such as
 * `//evil.example`, `/\evil.example` or an absolute URL.
 */
export function returnPath(value: string | null): string {
  // Browsers drop tabs and line breaks and read \ as /, so none of them may stand in it.
  if (value === null || !/^\/(?!\/)[^\\\p{Cc}]*$/u.test(value)) return '/';
  const here = 'https://host.invalid';
  return URL.canParse(value, here) && new URL(value, here).origin === here ? value : '/';
}
