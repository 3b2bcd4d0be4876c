/**
 * Slows guessing down. After some free failures an attempt of the same kind is let through only now and then, at
 * intervals that double; in between it is refused at once, without a slow hash. Nothing is ever locked: whoever waits as
 * told gets an attempt.
 */
export interface FailedAttempts {
  /** How long to wait before the next attempt under any of these keys, in milliseconds; 0 to go ahead. */
  wait(keys: readonly AttemptKey[]): number;
  /** Counts an attempt as failed, before it is known: those at the same moment must not all go ahead. */
  begin(keys: readonly AttemptKey[]): void;
  /** Takes the count back: the attempt was right. */
  succeeded(keys: readonly AttemptKey[]): void;
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
}

const FIRST_INTERVAL = 1000;
const LONGEST_INTERVAL = 30_000;
/** Failures are forgotten this long after the last one, in milliseconds. */
const MEMORY = 15 * 60_000;
/** Keys remembered at most; the one that failed longest ago is forgotten first. */
const MOST_KEYS = 10_000;

export function createFailedAttempts(clock: () => number): FailedAttempts {
  const failures = new Map<string, Failures>();

  function of(key: string): Failures | null {
    const found = failures.get(key);
    return found !== undefined && found.forgottenAt > clock() ? found : null;
  }

  return {
    wait(keys) {
      const now = clock();
      return Math.max(0, ...keys.map(({ key }) => (of(key)?.nextAt ?? now) - now));
    },
    begin(keys) {
      const now = clock();
      for (const { key, free } of keys) {
        const count = (of(key)?.count ?? 0) + 1;
        const interval = count < free ? 0 : Math.min(FIRST_INTERVAL * 2 ** (count - free), LONGEST_INTERVAL);
        failures.delete(key);
        failures.set(key, { count, nextAt: now + interval, forgottenAt: now + MEMORY });
      }
      for (const key of failures.keys()) {
        if (failures.size <= MOST_KEYS) break;
        failures.delete(key);
      }
    },
    succeeded(keys) {
      const now = clock();
      for (const { key } of keys) {
        const found = of(key);
        if (found === null) continue;
        failures.set(key, { ...found, count: found.count - 1, nextAt: now });
      }
    },
  };
}
