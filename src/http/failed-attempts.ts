/**
 * Slows guessing down. After some free failures an attempt of the same kind is let through only now and then, at
 * intervals that double; in between it is refused at once, without a slow hash. Nothing is ever locked: of those in between
 * every twentieth goes ahead, so that somebody who guesses all the time cannot take every turn.
 */
export interface FailedAttempts {
  /** How long this attempt has to wait, in milliseconds; 0 to go ahead. */
  admit(keys: readonly AttemptKey[]): number;
  /** Counts an attempt as failed, before it is known: those at the same moment must not all go ahead. */
  begin(keys: readonly AttemptKey[]): void;
  /** Takes the count back: the attempt was right, or could not be judged. */
  takeBack(keys: readonly AttemptKey[]): void;
}

/** What failures are counted by, such as one client from one address. */
export interface AttemptKey {
  readonly key: string;
  /** Failures before anything slows down. */
  readonly free: number;
}

interface Failures {
  readonly count: number;
  /** Milliseconds since 1970. */
  readonly nextAt: number;
  readonly forgottenAt: number;
  /** When the attempt before the last one could have been made. */
  readonly before: number;
  /** Attempts that had to wait. */
  readonly waited: number;
}

const FIRST_INTERVAL = 1000;
const LONGEST_INTERVAL = 30_000;
/** Failures are forgotten this long after the last one, in milliseconds. */
const MEMORY = 15 * 60_000;
/** Keys remembered at most; the one that failed longest ago is forgotten first. */
const MOST_KEYS = 10_000;
/** Of the attempts that would have to wait, one in so many goes ahead. */
const GOES_AHEAD = 20;

export function createFailedAttempts(clock: () => number): FailedAttempts {
  const failures = new Map<string, Failures>();

  function of(key: string): Failures | null {
    const found = failures.get(key);
    return found !== undefined && found.forgottenAt > clock() ? found : null;
  }

  return {
    admit(keys) {
      const now = clock();
      let longest = 0;
      for (const { key } of keys) {
        const found = of(key);
        if (found === null || found.nextAt <= now) continue;
        const waited = found.waited + 1;
        failures.set(key, { ...found, waited });
        if (waited % GOES_AHEAD !== 0) longest = Math.max(longest, found.nextAt - now);
      }
      return longest;
    },
    begin(keys) {
      const now = clock();
      for (const { key, free } of keys) {
        const before = of(key);
        const count = (before?.count ?? 0) + 1;
        const interval = count < free ? 0 : Math.min(FIRST_INTERVAL * 2 ** (count - free), LONGEST_INTERVAL);
        failures.delete(key);
        failures.set(key, {
          count,
          nextAt: now + interval,
          forgottenAt: now + MEMORY,
          waited: before?.waited ?? 0,
          before: before?.nextAt ?? now,
        });
      }
      for (const key of failures.keys()) {
        if (failures.size <= MOST_KEYS) break;
        failures.delete(key);
      }
    },
    takeBack(keys) {
      const now = clock();
      for (const { key, free } of keys) {
        const found = of(key);
        if (found === null) continue;
        // The wait that others have earned stays; the one that this attempt began with goes.
        const nextAt = found.count <= free ? now : found.before;
        failures.set(key, { ...found, count: found.count - 1, nextAt });
      }
    },
  };
}
