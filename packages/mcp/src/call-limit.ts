import { RecentMap } from 'portico/extension';

const MINUTE = 60_000;
/** The most messages that are counted at once: those of the largest batch. */
const MOST_AT_ONCE = 100;
/** Callers remembered at most; the one that called longest ago is forgotten first. */
const MOST_CALLERS = 10_000;

/** Limits how many messages the same caller sends in a minute. Counted by this process alone. */
export class CallLimit {
  readonly #perMinute: number;
  readonly #clock: () => number;
  /** When what was called will have been earned again. */
  readonly #usedUntil = new RecentMap<string, number>(MOST_CALLERS);

  /** A caller who was quiet for a minute may send `perMinute` messages at once. `clock`: milliseconds since 1970. */
  constructor(perMinute: number, clock: () => number) {
    this.#perMinute = perMinute;
    this.#clock = clock;
  }

  /** Counts so many messages, or none of them: how long to wait until they are allowed, in milliseconds; 0 when they are. */
  take(caller: string, messages: number): number {
    const each = MINUTE / this.#perMinute;
    const now = this.#clock();
    const known = this.#usedUntil.get(caller) ?? now;
    // What is further ahead than messages can lead was written before the clock was set back.
    const from = known < now || known > now + MINUTE + MOST_AT_ONCE * each ? now : known;
    // A batch that is larger than the limit would never be allowed: it is once the caller was quiet, who then waits for all of it.
    const wait = Math.max(0, from + Math.min(messages, this.#perMinute) * each - now - MINUTE);
    if (wait > 0) return wait;
    this.#usedUntil.put(caller, from + Math.min(messages, MOST_AT_ONCE) * each);
    return 0;
  }
}
