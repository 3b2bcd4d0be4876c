import type { Client } from './client.ts';

/** How long a self-registered client is kept if it is never used, in milliseconds (a day). */
export const NEVER_USED = 86_400_000;
/**
 * How long a self-registered client is kept after its last use, in milliseconds. This is 90 days
 * plus one day, because the time of use is written only once a day.
 */
export const UNUSED = 91 * 86_400_000;

/** How long a registration is included in the limit for its network, in milliseconds. */
export const COUNTED = 3_600_000;

/**
 * Returns whether a self-registered client has expired because it was not used. The client's row
 * may still exist.
 */
export function hasExpired({ registeredBy, usedAt, createdAt }: Client, now: number): boolean {
  if (registeredBy !== 'registration') return false;
  return usedAt === null ? createdAt <= now - NEVER_USED : usedAt <= now - UNUSED;
}
