import { isIPv4 } from 'node:net';

/**
 * Why nothing is fetched from this text. It has to be written as URLs are: what a parser would change (dot segments, a default port, other
 * ways to write a host) could be read in two ways.
 */
export function fetchableUrlProblem(text: string): string | null {
  if (!/^[\x21-\x7E]{1,255}$/.test(text)) return 'has more than 255 characters, or some that no URL has';
  if (!URL.canParse(text)) return 'is no URL';
  const url = new URL(text);
  if (url.protocol !== 'https:') return 'is not https';
  if (text.includes('#')) return 'has a fragment';
  if (url.username !== '' || url.password !== '') return 'carries credentials';
  if (url.href !== text)
    return 'has no path, or is not written as URLs are: without dot segments and default port';
  if (isIPv4(url.hostname) || url.hostname.startsWith('[')) return 'names an address instead of a host';
  if (url.hostname.endsWith('.')) return 'names a host with a dot at its end';
  return null;
}
