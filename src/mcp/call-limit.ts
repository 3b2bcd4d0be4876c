/** Limits how often the same caller calls tools. Counted by this process alone. */
export interface CallLimit {
  /** Counts so many calls, or none of them: how long to wait until they would be allowed, in milliseconds; 0 when they are. */
  take(caller: string, calls: number): number;
}

export interface CallLimitOptions {
  /** How many calls in a minute; a caller who was quiet for a minute may make all of them at once. */
  readonly perMinute: number;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

const MINUTE = 60_000;
/** The most calls that are counted at once: those of the largest batch. */
const MOST_AT_ONCE = 100;
/** Callers remembered at most; the one that called longest ago is forgotten first. */
const MOST_CALLERS = 10_000;

export function createCallLimit({ perMinute, clock }: CallLimitOptions): CallLimit {
  const each = MINUTE / perMinute;
  /** When what was called will have been earned again. */
  const usedUntil = new Map<string, number>();
  return {
    take(caller, calls) {
      const now = clock();
      const known = usedUntil.get(caller) ?? now;
      // What is further ahead than calls can lead was written before the clock was set back.
      const from = known < now || known > now + MINUTE + MOST_AT_ONCE * each ? now : known;
      // A batch that is larger than the limit would never be allowed: it is once the caller was quiet, who then waits for all of it.
      const wait = Math.max(0, from + Math.min(calls, perMinute) * each - now - MINUTE);
      if (wait > 0) return wait;
      usedUntil.delete(caller);
      usedUntil.set(caller, from + Math.min(calls, MOST_AT_ONCE) * each);
      for (const oldest of usedUntil.keys()) {
        if (usedUntil.size <= MOST_CALLERS) break;
        usedUntil.delete(oldest);
      }
      return 0;
    },
  };
}
