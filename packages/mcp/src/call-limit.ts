import { RecentMap } from 'portico/extension';

const MINUTE = 60_000;
/** The most messages that are counted at once: one batch of the largest size. */
const MOST_AT_ONCE = 100;
/** How many callers are remembered. The one with the oldest call is forgotten first. */
const MOST_CALLERS = 10_000;

/** Limits how many messages a caller sends per minute. Each process counts only its own. */
export class CallLimit {
  readonly #perMinute: number;
  readonly #clock: () => number;
  /** When each caller's used quota will be restored. */
  readonly #usedUntil = new RecentMap<string, number>(MOST_CALLERS);

  /**
   * A caller that was quiet for a minute may send `perMinute` messages at once. `clock`:
   * milliseconds since 1970.
   */
  constructor(perMinute: number, clock: () => number) {
    this.#perMinute = perMinute;
    this.#clock = clock;
  }

  /**
   * Counts all of the messages or none. Returns how long to wait until they are allowed, in
   * milliseconds; 0 when they are allowed now.
   */
  take(caller: string, messages: number): number {
    const each = MINUTE / this.#perMinute;
    const now = this.#clock();
    const known = this.#usedUntil.get(caller) ?? now;
    // A time further ahead than messages can lead was written before the clock was set back.
    const from = known < now || known > now + MINUTE + MOST_AT_ONCE * each ? now : known;
    // A batch larger than the limit would never be allowed. So it is allowed after a quiet minute,
    // and the caller then waits for all of it.
    const wait = Math.max(0, from + Math.min(messages, this.#perMinute) * each - now - MINUTE);
    if (wait > 0) return wait;
    this.#usedUntil.put(caller, from + Math.min(messages, MOST_AT_ONCE) * each);
    return 0;
  }
}
