import { RecentMap } from 'portico/extension';

const MINUTE = 60_000;
/** The most messages that are counted at once: the largest batch. */
const MOST_AT_ONCE = 100;
/** The most callers that are remembered. The caller with the oldest call is forgotten first. */
const MOST_CALLERS = 10_000;

/** Limits how many messages a caller may send per minute. Each process counts separately. */
export class CallLimit {
  readonly #perMinute: number;
  readonly #clock: () => number;
  /** The time at which each caller's full quota will be restored. */
  readonly #usedUntil = new RecentMap<string, number>(MOST_CALLERS);

  /**
   * A caller that sent nothing for a minute may send `perMinute` messages at once. `clock`: returns
   * milliseconds since 1970.
   */
  constructor(perMinute: number, clock: () => number) {
    this.#perMinute = perMinute;
    this.#clock = clock;
  }

  /**
   * Counts all messages or none. Returns the milliseconds to wait until they are allowed, or 0 if
   * they are allowed now.
   */
  take(caller: string, messages: number): number {
    const each = MINUTE / this.#perMinute;
    const now = this.#clock();
    const known = this.#usedUntil.get(caller) ?? now;
    // If the time is too far ahead, the clock was set back after it was written.
    const from = known < now || known > now + MINUTE + MOST_AT_ONCE * each ? now : known;
    // A batch larger than the limit would never be allowed. So allow it after a minute without
    // messages. The caller must then wait for the whole batch.
    const wait = Math.max(0, from + Math.min(messages, this.#perMinute) * each - now - MINUTE);
    if (wait > 0) return wait;
    this.#usedUntil.put(caller, from + Math.min(messages, MOST_AT_ONCE) * each);
    return 0;
  }
}
