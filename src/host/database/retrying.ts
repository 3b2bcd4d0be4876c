import { setTimeout } from 'node:timers/promises';
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

/** For how long the store is asked about a lost commit, and how often, in milliseconds. */
const RESOLVE_WITHIN = 10_000;
const RESOLVE_EVERY = 100;

/**
 * Whether a commit took effect although the store was lost meanwhile: asks until the store answers; false if it stays away. No is
 * asked for twice: on PostgreSQL the question may have overtaken the statement in the line for a row that a third one changed.
 */
export async function resolveLostCommit(committed: () => Promise<boolean>): Promise<boolean> {
  const until = performance.now() + RESOLVE_WITHIN;
  for (;;) {
    try {
      return (await committed()) || (await committed());
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      if (performance.now() > until) return false;
      await setTimeout(RESOLVE_EVERY);
    }
  }
}
