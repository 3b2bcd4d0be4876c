import { STATELESS_VERSION } from './versions.ts';

/**
 * How long a client may cache lists and `server/discover`, in milliseconds. They change only when
 * the application is deployed.
 */
const FRESH = 300_000;

/** These results require a token, so shared caches must not keep them. */
export const CACHED = { ttlMs: FRESH, cacheScope: 'private' } as const;

/**
 * Returns a result's caching members for this version. Versions before 2026-07-28 do not have them.
 */
export function cachedFor(
  version: string,
  ttlMs: number = FRESH,
): Readonly<Record<string, unknown>> {
  return version === STATELESS_VERSION ? { ...CACHED, ttlMs } : {};
}
