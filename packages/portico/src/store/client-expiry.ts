import type { Client } from './client.ts';

/** How long an unused self-registered client is kept, in milliseconds (a day). */
export const NEVER_USED = 86_400_000;
/**
 * How long a self-registered client is kept after its last use, in milliseconds. These are 90 days
 * plus one: the time of use is written only once a day.
 */
export const UNUSED = 91 * 86_400_000;

/** How long a registration counts for its network's limit, in milliseconds. */
export const COUNTED = 3_600_000;

/**
 * Returns true if a self-registered client has expired because it was not used. The client's row
 * may still exist.
 */
export function hasExpired({ registeredBy, usedAt, createdAt }: Client, now: number): boolean {
  if (registeredBy !== 'registration') return false;
  return usedAt === null ? createdAt <= now - NEVER_USED : usedAt <= now - UNUSED;
}
