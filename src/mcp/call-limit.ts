import { RecentMap } from '../http/recent-map.ts';

/** Limits how many messages the same caller sends. Counted by this process alone. */
export interface CallLimit {
  /** Counts so many messages, or none of them: how long to wait until they are allowed, in milliseconds; 0 when they are. */
  take(caller: string, messages: number): number;
}

export interface CallLimitOptions {
  /** How many messages in a minute; a caller who was quiet for a minute may send all of them at once. */
  readonly perMinute: number;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

const MINUTE = 60_000;
/** The most messages that are counted at once: those of the largest batch. */
const MOST_AT_ONCE = 100;
/** Callers remembered at most; the one that called longest ago is forgotten first. */
const MOST_CALLERS = 10_000;

export function createCallLimit({ perMinute, clock }: CallLimitOptions): CallLimit {
  const each = MINUTE / perMinute;
  /** When what was called will have been earned again. */
  const usedUntil = new RecentMap<string, number>(MOST_CALLERS);
  return {
    take(caller, messages) {
      const now = clock();
      const known = usedUntil.get(caller) ?? now;
      // What is further ahead than messages can lead was written before the clock was set back.
      const from = known < now || known > now + MINUTE + MOST_AT_ONCE * each ? now : known;
      // A batch that is larger than the limit would never be allowed: it is once the caller was quiet, who then waits for all of it.
      const wait = Math.max(0, from + Math.min(messages, perMinute) * each - now - MINUTE);
      if (wait > 0) return wait;
      usedUntil.put(caller, from + Math.min(messages, MOST_AT_ONCE) * each);
      return 0;
    },
  };
}
