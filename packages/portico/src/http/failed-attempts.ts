import { randomInt } from 'node:crypto';
import { RecentMap } from './recent-map.ts';

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

/**
 * Slows guessing down. After some free failures, attempts with the same key go ahead only at intervals that double; in between
 * they are refused at once, without a slow hash. Nothing is ever locked: of the attempts in between one in twenty, drawn at random,
 * goes ahead. So whoever guesses all the time cannot take every turn, nor know whose turn is next.
 */
export class FailedAttempts {
  readonly #failures = new RecentMap<string, Failures>(MOST_KEYS);
  readonly #clock: () => number;
  readonly #random: () => number;

  /** `clock`: milliseconds since 1970. `random`: from 0 up to, and not including, 1. */
  constructor(clock: () => number, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /**
   * Calls `judge`, unless the attempt has to wait. The attempt counts as failed meanwhile, so that many at the same moment do not
   * all go ahead; that is taken back when it was right, or when `judge` rejected.
   */
  async attempt<T>(keys: readonly AttemptKey[], judge: () => Promise<T | null>): Promise<Attempt<T>> {
    const refused = this.#slowed(keys);
    if (refused !== null) return refused;
    this.#begin(keys);
    try {
      const value = await judge();
      if (value === null) return { outcome: 'wrong' };
      this.#takeBack(keys);
      return { outcome: 'right', value };
    } catch (error) {
      this.#takeBack(keys);
      throw error;
    }
  }

  #current({ key, free }: AttemptKey): Failures | null {
    const now = this.#clock();
    const found = this.#failures.get(key);
    // An entry from the future was written before the clock was set back.
    if (found === undefined || found.forgottenAt <= now || found.forgottenAt > now + MEMORY) return null;
    // A network of many people fails now and then although no one guesses.
    const period = MEMORY / free;
    const leaked = Math.min(found.count, Math.max(0, Math.floor((now - found.leaksFrom) / period)));
    return { ...found, count: found.count - leaked, leaksFrom: found.leaksFrom + leaked * period };
  }

  #slowed(keys: readonly AttemptKey[]): Extract<Attempt<never>, { outcome: 'slowed' }> | null {
    const now = this.#clock();
    const waiting = keys.flatMap(({ key, free }) => {
      const found = this.#current({ key, free });
      return found !== null && found.nextAt > now ? [{ key, found }] : [];
    });
    if (waiting.length === 0 || this.#random() < 1 / GOES_AHEAD) return null;
    const first = waiting.every(({ found }) => !found.reported);
    for (const { key, found } of waiting) this.#failures.set(key, { ...found, reported: true });
    return { outcome: 'slowed', wait: Math.max(...waiting.map(({ found }) => found.nextAt - now)), first };
  }

  #begin(keys: readonly AttemptKey[]): void {
    const now = this.#clock();
    for (const { key, free } of keys) {
      const before = this.#current({ key, free });
      const count = (before?.count ?? 0) + 1;
      const interval = count < free ? 0 : Math.min(FIRST_INTERVAL * 2 ** (count - free), LONGEST_INTERVAL);
      this.#failures.put(key, {
        count,
        leaksFrom: before === null || before.count === 0 ? now : before.leaksFrom,
        nextAt: now + interval,
        before: before?.nextAt ?? now,
        forgottenAt: now + MEMORY,
        reported: before?.reported ?? false,
      });
    }
  }

  #takeBack(keys: readonly AttemptKey[]): void {
    const now = this.#clock();
    for (const { key, free } of keys) {
      const found = this.#current({ key, free });
      if (found === null) continue;
      // Waits caused by other attempts stay; the one that this attempt caused goes.
      const nextAt = found.count <= free ? now : found.before;
      this.#failures.set(key, { ...found, count: Math.max(0, found.count - 1), nextAt });
    }
  }
}
