import { setTimeout } from 'node:timers/promises';
import type { Timer } from './opened.ts';
import { isAboutName, isUnavailable, isWorthRetrying, tooManyConflicts } from './failures.ts';

const MOST_TRIES = 5;

/**
 * Runs the attempt, and repeats it after a conflict. Calls `onRetry` before each retry. Rejects as
 * unavailable after five attempts.
 */
export async function retrying<T>(attempt: () => Promise<T>, onRetry: () => void): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!isWorthRetrying(error)) throw error;
      if (tries >= MOST_TRIES) throw isUnavailable(error) ? error : tooManyConflicts(error);
      onRetry();
      // Wait a random time, so that the same two transactions do not conflict again.
      if (!isAboutName(error)) await setTimeout(Math.random() * 10 * tries);
    }
  }
}

/** How long Portico tries to find out from a server whether a commit succeeded, in milliseconds. */
export const RESOLVE_WITHIN = 30_000;
/**
 * The first pause between two attempts, in milliseconds. Each further pause is twice as long, up to
 * `LONGEST_PAUSE`, so that waiting requests do not overload a store that is just starting.
 */
const SHORTEST_PAUSE = 100;
const LONGEST_PAUSE = 1000;

/**
 * Returns whether a commit took effect although the connection was lost. Repeats `committed` while
 * the store is unavailable, for example too busy, or while only a standby responds. After `within`
 * milliseconds, returns false. If `within` is 0, calls `committed` only once.
 */
export async function resolveLostCommit(
  committed: () => Promise<boolean>,
  within: number,
  timer: Timer,
): Promise<boolean> {
  const until = timer.now() + within;
  for (let pause = SHORTEST_PAUSE; ; pause = Math.min(pause * 2, LONGEST_PAUSE)) {
    try {
      return await committed();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      if (timer.now() >= until) return false;
      await passed(timer, pause * (0.5 + Math.random() / 2));
    }
  }
}

function passed(timer: Timer, milliseconds: number): Promise<void> {
  return new Promise((resolve) => void timer.after(milliseconds, resolve));
}
