import type { Client } from './client.ts';

/** How long a client that registered itself lives without a use, in milliseconds: a day. */
export const NEVER_USED = 86_400_000;
/** How long it lives after its last use: ninety days, and one more, since a use is recorded once a day. */
export const UNUSED = 91 * 86_400_000;

/** How long a registration is counted against the network that it came from. */
export const COUNTED = 3_600_000;

/** Whether a client that registered itself has expired because it was not used. Its row may still be there. */
export function hasExpired({ registeredBy, usedAt, createdAt }: Client, now: number): boolean {
  if (registeredBy !== 'registration') return false;
  return usedAt === null ? createdAt <= now - NEVER_USED : usedAt <= now - UNUSED;
}
