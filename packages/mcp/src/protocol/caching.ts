import { STATELESS_VERSION } from './versions.ts';

/**
 * How long clients may cache lists and the result of `server/discover`, in milliseconds. They
 * usually change only when you deploy a new version of the application.
 */
const FRESH = 300_000;

/**
 * The caching members of results for which a token is needed. Shared caches must not store such
 * results.
 */
export const CACHED = { ttlMs: FRESH, cacheScope: 'private' } as const;

/**
 * Returns the caching members of a result for this protocol version. Versions before 2026-07-28 do
 * not have them.
 */
export function cachedFor(
  version: string,
  ttlMs: number = FRESH,
): Readonly<Record<string, unknown>> {
  return version === STATELESS_VERSION ? { ...CACHED, ttlMs } : {};
}
