import { setTimeout } from 'node:timers/promises';
import { isSqliteBusy } from './failures.ts';

/** How long a statement waits for another connection, in milliseconds. */
export const LONGEST_WAIT = 5000;

/**
 * Repeats the attempt while another connection holds the lock, but at most for `LONGEST_WAIT`.
 * Other requests can run between attempts.
 */
export async function whileBusy<T>(attempt: () => T): Promise<T> {
  const until = performance.now() + LONGEST_WAIT;
  for (let wait = 1; ; wait = Math.min(wait * 2, 20)) {
    try {
      return attempt();
    } catch (error) {
      if (!isSqliteBusy(error) || performance.now() > until) throw error;
      await setTimeout(wait * Math.random());
    }
  }
}
