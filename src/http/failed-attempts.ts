import { randomInt } from 'node:crypto';
import { RecentMap } from './recent-map.ts';

/**
 * Slows guessing down. After some free failures, attempts with the same key go ahead only at intervals that double; in between
 * they are refused at once, without a slow hash. Nothing is ever locked: of the attempts in between one in twenty, drawn at random,
 * goes ahead. So whoever guesses all the time cannot take every turn, nor know whose turn is next.
 */
export interface FailedAttempts {
  /**
   * Calls `judge`, unless the attempt has to wait. The attempt counts as failed meanwhile, so that many at the same moment do not
   * all go ahead; that is taken back when it was right, or when `judge` rejected.
   */
  attempt<T>(keys: readonly AttemptKey[], judge: () => Promise<T | null>): Promise<Attempt<T>>;
}

/** What failures are counted by, such as one client from one network. */
export interface AttemptKey {
  readonly key: string;
  /** Failures in a quarter of an hour before anything slows down. */
  readonly free: number;
}

export type Attempt<T> =
  | { readonly outcome: 'right'; readonly value: T }
  | { readonly outcome: 'wrong' }
  | {
      readonly outcome: 'slowed';
      /** Until it would go ahead, in milliseconds. */
      readonly wait: number;
      /** Whether it is the first to be slowed since its failures were last forgotten. */
      readonly first: boolean;
    };

export interface FailedAttemptsOptions {
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** A number from 0 up to, and not including, 1. */
  readonly random: () => number;
}

/** For `random`: unpredictable numbers. */
export function systemRandom(): number {
  return randomInt(RANDOM_RANGE) / RANDOM_RANGE;
}

interface Failures {
  readonly count: number;
  /** From when on failures are forgotten one by one, each after the same time; milliseconds since 1970. */
  readonly leaksFrom: number;
  /** When the next attempt can be made. */
  readonly nextAt: number;
  /** When the attempt before the last one could have been made. */
  readonly before: number;
  readonly forgottenAt: number;
  /** Whether an attempt was reported as the first to be slowed. */
  readonly reported: boolean;
}

const RANDOM_RANGE = 2 ** 32;
const FIRST_INTERVAL = 1000;
const LONGEST_INTERVAL = 30_000;
/** Failures are forgotten this long after the last one, in milliseconds. */
const MEMORY = 15 * 60_000;
/** Keys remembered at most; the one that failed longest ago is forgotten first. */
const MOST_KEYS = 10_000;
/** Of the attempts that would have to wait, one in this many goes ahead. */
const GOES_AHEAD = 20;

export function createFailedAttempts({ clock, random }: FailedAttemptsOptions): FailedAttempts {
  const failures = new RecentMap<string, Failures>(MOST_KEYS);

  function current({ key, free }: AttemptKey): Failures | null {
    const now = clock();
    const found = failures.get(key);
    // An entry from the future was written before the clock was set back.
    if (found === undefined || found.forgottenAt <= now || found.forgottenAt > now + MEMORY) return null;
    // A network of many people fails now and then without anybody guessing.
    const period = MEMORY / free;
    const leaked = Math.min(found.count, Math.max(0, Math.floor((now - found.leaksFrom) / period)));
    return { ...found, count: found.count - leaked, leaksFrom: found.leaksFrom + leaked * period };
  }

  function slowed(keys: readonly AttemptKey[]): Extract<Attempt<never>, { outcome: 'slowed' }> | null {
    const now = clock();
    const waiting = keys.flatMap(({ key, free }) => {
      const found = current({ key, free });
      return found !== null && found.nextAt > now ? [{ key, found }] : [];
    });
    if (waiting.length === 0 || random() < 1 / GOES_AHEAD) return null;
    const first = waiting.every(({ found }) => !found.reported);
    for (const { key, found } of waiting) failures.set(key, { ...found, reported: true });
    return { outcome: 'slowed', wait: Math.max(...waiting.map(({ found }) => found.nextAt - now)), first };
  }

  function begin(keys: readonly AttemptKey[]): void {
    const now = clock();
    for (const { key, free } of keys) {
      const before = current({ key, free });
      const count = (before?.count ?? 0) + 1;
      const interval = count < free ? 0 : Math.min(FIRST_INTERVAL * 2 ** (count - free), LONGEST_INTERVAL);
      failures.put(key, {
        count,
        leaksFrom: before === null || before.count === 0 ? now : before.leaksFrom,
        nextAt: now + interval,
        before: before?.nextAt ?? now,
        forgottenAt: now + MEMORY,
        reported: before?.reported ?? false,
      });
    }
  }

  function takeBack(keys: readonly AttemptKey[]): void {
    const now = clock();
    for (const { key, free } of keys) {
      const found = current({ key, free });
      if (found === null) continue;
      // Waits caused by other attempts stay; the one that this attempt caused goes.
      const nextAt = found.count <= free ? now : found.before;
      failures.set(key, { ...found, count: Math.max(0, found.count - 1), nextAt });
    }
  }

  return {
    async attempt(keys, judge) {
      const refused = slowed(keys);
      if (refused !== null) return refused;
      begin(keys);
      try {
        const value = await judge();
        if (value === null) return { outcome: 'wrong' };
        takeBack(keys);
        return { outcome: 'right', value };
      } catch (error) {
        takeBack(keys);
        throw error;
      }
    },
  };
}
