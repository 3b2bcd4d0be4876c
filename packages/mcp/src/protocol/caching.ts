import { STATELESS_VERSION } from './versions.ts';

/**
 * How long a client may cache lists and `server/discover`, in milliseconds. They change when the
 * application is deployed.
 */
const FRESH = 300_000;

/** Only for holders of a token, so shared caches must not keep it. */
export const CACHED = { ttlMs: FRESH, cacheScope: 'private' } as const;

/**
 * What a result of this version says about caching. Versions before 2026-07-28 have no such
 * members.
 */
export function cachedFor(version: string, ttlMs: number = FRESH): Readonly<Record<string, unknown>> {
  return version === STATELESS_VERSION ? { ...CACHED, ttlMs } : {};
}
