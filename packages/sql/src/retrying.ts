import { setTimeout } from 'node:timers/promises';
import type { Timer } from './opened.ts';
import { isAboutName, isUnavailable, isWorthRetrying, tooManyConflicts } from './failures.ts';

const MOST_TRIES = 5;

/** Retries what a conflict with others has undone, and calls before each retry; after five times it is unavailable. */
export async function retrying<T>(attempt: () => Promise<T>, onRetry: () => void): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!isWorthRetrying(error)) throw error;
      if (tries >= MOST_TRIES) throw isUnavailable(error) ? error : tooManyConflicts(error);
      onRetry();
      // Two that conflicted would conflict again if both retried at the same moment.
      if (!isAboutName(error)) await setTimeout(Math.random() * 10 * tries);
    }
  }
}

/** For how long a server is asked about a lost commit, in milliseconds. */
export const RESOLVE_WITHIN = 30_000;
/** What lies between two questions: it doubles, so that those who wait do not keep a store from coming back. */
const SHORTEST_PAUSE = 100;
const LONGEST_PAUSE = 1000;

/**
 * Whether a commit took effect although the store was lost meanwhile: asks until the store answers; false if it stays away. A question
 * that a standby or a store that is too busy refuses was not answered. `within` is in milliseconds; with 0 it is asked once.
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
