import type { IncomingHttpHeaders } from 'node:http';

/**
 * The minimum and maximum time that a response is cached, in seconds. RFC 9111 allows such limits.
 * `UNSAID` applies to responses that state no lifetime.
 */
const BOUNDS = { shortest: 300, longest: 86_400 } as const;
const UNSAID = 3600;
/** The maximum time that a response is cached, in milliseconds. */
export const LONGEST_FRESH = BOUNDS.longest * 1000;
/**
 * The maximum number of seconds in a header. A larger number counts as this one (RFC 9111 section
 * 1.2.2).
 */
const MOST = 2 ** 31;

/** Returns how many seconds to cache a response (RFC 9111 section 4.2.1), within `BOUNDS`. */
export function secondsFresh(headers: IncomingHttpHeaders): number {
  const said = lifetime(headers) ?? UNSAID;
  return Math.min(Math.max(said - age(headers), BOUNDS.shortest), BOUNDS.longest);
}

/**
 * Returns the lifetime that the response states, in seconds, or null. `s-maxage` has priority,
 * because several users share this cache.
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

/** Returns how long the response was in other caches, in seconds. */
function age({ age: text = '' }: IncomingHttpHeaders): number {
  return parseSeconds(text);
}

function parseSeconds(text: string): number {
  return /^\d+$/.test(text) ? Math.min(Number(text), MOST) : 0;
}
