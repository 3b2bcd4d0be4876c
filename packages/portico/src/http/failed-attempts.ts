import { randomInt } from 'node:crypto';
import { RecentMap } from './recent-map.ts';

/** Failed attempts with the same key are counted together. Example: one client from one network. */
export interface AttemptKey {
  readonly key: string;
  /** How many attempts can fail within 15 minutes without a delay. */
  readonly free: number;
}

export type Attempt<T> =
  | { readonly outcome: 'right'; readonly value: T }
  | { readonly outcome: 'wrong' }
  | {
      readonly outcome: 'slowed';
      /** How long the caller must wait, in milliseconds. */
      readonly wait: number;
      /** True for the first rejected attempt since the failures of this key were last forgotten. */
      readonly first: boolean;
    };

/** Returns an unpredictable number from 0 to less than 1. */
export function systemRandom(): number {
  return randomInt(RANDOM_RANGE) / RANDOM_RANGE;
}

interface Failures {
  readonly count: number;
  /** From this time, failures are forgotten one by one. In milliseconds since 1970. */
  readonly leaksFrom: number;
  /** When the next attempt is allowed, in milliseconds since 1970. */
  readonly nextAt: number;
  /** The value of `nextAt` before the last attempt. */
  readonly before: number;
  readonly forgottenAt: number;
  readonly reported: boolean;
}

const RANDOM_RANGE = 2 ** 32;
const FIRST_INTERVAL = 1000;
const LONGEST_INTERVAL = 30_000;
/** How long after the last failure all failures of a key are forgotten, in milliseconds. */
const MEMORY = 15 * 60_000;
/**
 * Above this number, the key with the oldest attempt is forgotten. Attempts that were rejected
 * because they must wait do not count.
 */
const MOST_KEYS = 10_000;
/** One in this many of the attempts that would have to wait is allowed. */
const GOES_AHEAD = 20;

/**
 * Slows down attackers who guess secrets. After some failures, the next attempt with the same key
 * must wait. Each interval is twice as long as the previous one, up to 30 seconds. Attempts during
 * an interval are rejected without computing a slow hash.
 *
 * An attacker must not lock out the owner of a key. So one in twenty attempts during an interval is
 * allowed at random. An attacker cannot predict these attempts or use all of them up.
 */
export class FailedAttempts {
  readonly #failures = new RecentMap<string, Failures>(MOST_KEYS);
  readonly #clock: () => number;
  readonly #random: () => number;

  /**
   * `clock` returns the time in milliseconds since 1970. `random` returns a number from 0 to less
   * than 1.
   */
  constructor(clock: () => number = Date.now, random: () => number = systemRandom) {
    this.#clock = clock;
    this.#random = random;
  }

  /**
   * Calls `judge`, unless the attempt must wait. The attempt counts as a failure while `judge`
   * runs. Otherwise, many attempts could start before the first one fails. Success or an error of
   * `judge` undoes the count.
   */
  async attempt<T>(
    keys: readonly AttemptKey[],
    judge: () => Promise<T | null>,
  ): Promise<Attempt<T>> {
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
    // Ignore an expired entry. Also ignore one that expires later than `MEMORY` from now, because
    // the clock was set back since then.
    if (found === undefined || found.forgottenAt <= now || found.forgottenAt > now + MEMORY)
      return null;
    // In a network with many users, some attempts fail without an attack. So forget failures one by
    // one.
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
    return {
      outcome: 'slowed',
      wait: Math.max(...waiting.map(({ found }) => found.nextAt - now)),
      first,
    };
  }

  #begin(keys: readonly AttemptKey[]): void {
    const now = this.#clock();
    for (const { key, free } of keys) {
      const before = this.#current({ key, free });
      const count = (before?.count ?? 0) + 1;
      const interval =
        count < free ? 0 : Math.min(FIRST_INTERVAL * 2 ** (count - free), LONGEST_INTERVAL);
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
      // Undo only the wait of this attempt. Keep the waits of other attempts.
      const nextAt = found.count <= free ? now : found.before;
      this.#failures.set(key, { ...found, count: Math.max(0, found.count - 1), nextAt });
    }
  }
}
