import { isLoopback } from '../../http/loopback.ts';
import type { Client } from '../store/store.ts';

const PRINTABLE_ASCII = /^[\x21-\x7E]+$/;
/** What an authorization response adds to the query. */
const RESPONSE_PARAMETERS = ['code', 'state', 'iss', 'error', 'error_description'] as const;

/**
 * Why this cannot be registered as a redirect URI, or null when it can: it is absolute https (http for loopback only), without
 * wildcard or fragment (RFC 6749 section 3.1.2, RFC 9700 section 4.1).
 */
export function redirectUriProblem(uri: string): string | null {
  if (!PRINTABLE_ASCII.test(uri) || !URL.canParse(uri)) return 'is not an absolute URL';
  const url = new URL(uri);
  if (uri.includes('*')) return 'contains a wildcard; register each redirect URI in full';
  if (uri.includes('#')) return 'has a fragment; remove it';
  if (url.username !== '' || url.password !== '') return 'carries credentials; remove them';
  if (!/^https?:\/\/[^/\\]/i.test(uri)) return 'is not an absolute https URL';
  if (url.protocol === 'http:' && !isLoopback(url)) {
    return 'is not https; http is for loopback (localhost, 127.0.0.1, [::1]) only';
  }
  const taken = RESPONSE_PARAMETERS.find((name) => url.searchParams.has(name));
  if (taken !== undefined) return `has the parameter ${taken} in its query, which the answer brings`;
  return null;
}

/** Whether the client is registered with this redirect URI: compared character by character (RFC 9700 section 4.1.3). */
export function isRegistered({ redirectUris }: Pick<Client, 'redirectUris'>, uri: string): boolean {
  return redirectUris.includes(uri);
}

/** The redirect URI with the response's parameters added to its query (RFC 6749 section 4.1.2), otherwise unchanged. */
export function redirectWith(uri: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) query.append(name, value);
  const separator = !uri.includes('?') ? '?' : /[?&]$/.test(uri) ? '' : '&';
  return `${uri}${separator}${query}`;
}
