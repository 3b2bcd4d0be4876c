import { RecentMap } from 'portico/extension';

const MINUTE = 60_000;
/**
 * The maximum number of messages that one call of `take` counts. Larger batches are rejected later.
 */
const MOST_AT_ONCE = 100;
/**
 * The maximum number of callers to remember. When it is reached, a new caller replaces the one
 * whose last allowed message is the oldest.
 */
const MOST_CALLERS = 10_000;

/** Limits how many messages each caller can send per minute. Each process has a separate count. */
export class CallLimit {
  readonly #perMinute: number;
  readonly #clock: () => number;
  /** For each caller, the time from which it can send `perMinute` messages at the same time. */
  readonly #usedUntil = new RecentMap<string, number>(MOST_CALLERS);

  /**
   * A caller that has sent nothing for a minute can send `perMinute` messages at the same time.
   * After a batch that is larger than this limit, the caller must wait longer than a minute.
   * `clock` returns the time in milliseconds since 1970.
   */
  constructor(perMinute: number, clock: () => number) {
    this.#perMinute = perMinute;
    this.#clock = clock;
  }

  /**
   * Counts all of these messages or none of them. Returns 0 if they are allowed now. Otherwise,
   * returns how many milliseconds the caller must wait.
   */
  take(caller: string, messages: number): number {
    const each = MINUTE / this.#perMinute;
    const now = this.#clock();
    const known = this.#usedUntil.get(caller) ?? now;
    // Ignore a stored time that is too far in the future, because it means that the clock was set
    // back.
    const from = known < now || known > now + MINUTE + MOST_AT_ONCE * each ? now : known;
    // Allow a batch that is larger than the limit only if the caller can send `perMinute` messages
    // now. The whole batch counts, so the caller must then wait longer.
    const wait = Math.max(0, from + Math.min(messages, this.#perMinute) * each - now - MINUTE);
    // The clock has whole milliseconds. A smaller wait comes only from rounding.
    if (wait >= 1) return wait;
    this.#usedUntil.put(caller, from + Math.min(messages, MOST_AT_ONCE) * each);
    return 0;
  }
}
