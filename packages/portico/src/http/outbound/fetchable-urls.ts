import { isIPv4 } from 'node:net';
import { uriTextProblem } from './uri-text.ts';

const LONGEST = 255;

/**
 * Returns why the server must not fetch this URL, or null. The URL must be in normal form: no dot
 * segments, no default port, and the usual spelling of its host. Otherwise, two programs could read
 * it differently.
 */
export function fetchableUrlProblem(text: string): string | null {
  if (text.length > LONGEST) return `has more than ${LONGEST} characters`;
  const problem = uriTextProblem(text);
  if (problem !== null) return problem;
  if (!URL.canParse(text)) return 'is not a URL';
  const url = new URL(text);
  if (url.protocol !== 'https:') return 'is not https';
  if (text.includes('#')) return 'has a fragment';
  if (url.username !== '' || url.password !== '') return 'carries credentials';
  if (url.href !== text)
    return 'has no path, or is not in normal form, without dot segments and without a default port';
  if (isIPv4(url.hostname) || url.hostname.startsWith('['))
    return 'has an IP address instead of a host name';
  if (url.hostname.endsWith('.')) return 'has a host that ends with a dot';
  return null;
}

/**
 * Returns why this port is not allowed, or null. Outside development, only port 443 is allowed.
 * Otherwise, an attacker could scan the ports of a network by measuring response times.
 */
export function portProblem({ port }: URL, anyPort: boolean): string | null {
  return port === '' || anyPort ? null : 'has a port other than 443';
}
