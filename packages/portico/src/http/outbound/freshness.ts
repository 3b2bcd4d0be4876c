import type { IncomingHttpHeaders } from 'node:http';

/**
 * The minimum and maximum time for which a response is cached, in seconds. RFC 9111 allows such
 * limits. A response without a stated lifetime is cached for one hour (`UNSAID`).
 */
const BOUNDS = { shortest: 300, longest: 86_400 } as const;
const UNSAID = 3600;
/** The maximum time for which a response is cached, in milliseconds. */
export const LONGEST_FRESH = BOUNDS.longest * 1000;
/**
 * The maximum number of seconds in a header. A larger number is treated as this number (RFC 9111
 * section 1.2.2).
 */
const MOST = 2 ** 31;

/**
 * Returns the number of seconds to cache a response with these headers (RFC 9111 section 4.2.1).
 * The result is always between the minimum and the maximum in `BOUNDS`.
 */
export function secondsFresh(headers: IncomingHttpHeaders): number {
  const said = lifetime(headers) ?? UNSAID;
  return Math.min(Math.max(said - age(headers), BOUNDS.shortest), BOUNDS.longest);
}

/**
 * Returns the lifetime that the response states, in seconds, or null. `s-maxage` has priority,
 * because this cache is shared by several users.
 */
function lifetime(headers: IncomingHttpHeaders): number | null {
  const directives = (headers['cache-control'] ?? '').toLowerCase().split(',');
  const named = new Map(
    directives.map((directive) => {
      const [name = '', value = ''] = directive.split('=');
      return [name.trim(), value.trim().replaceAll('"', '')] as const;
    }),
  );
  if (named.has('no-store') || named.has('no-cache')) return 0;
  const seconds = named.get('s-maxage') ?? named.get('max-age');
  if (seconds !== undefined) return parseSeconds(seconds);
  return headers.expires === undefined ? null : untilExpired(headers.expires, headers.date);
}

function untilExpired(expires: string, date: string | undefined): number {
  const seconds = (Date.parse(expires) - Date.parse(date ?? '')) / 1000;
  return Number.isNaN(seconds) ? 0 : seconds;
}

/** Returns how long the response has been in other caches, in seconds. */
function age({ age: text = '' }: IncomingHttpHeaders): number {
  return parseSeconds(text);
}

function parseSeconds(text: string): number {
  return /^\d+$/.test(text) ? Math.min(Number(text), MOST) : 0;
}
