import { RecentMap } from 'portico/extension';

const MINUTE = 60_000;
/** The maximum number of messages in one call of `take`. A batch never has more messages. */
const MOST_AT_ONCE = 100;
/** The maximum number of callers to remember. Beyond it, the least recent caller is forgotten. */
const MOST_CALLERS = 10_000;

/** Limits how many messages a caller can send per minute. Each process counts separately. */
export class CallLimit {
  readonly #perMinute: number;
  readonly #clock: () => number;
  /** For each caller, from when on it can again send `perMinute` messages at the same time. */
  readonly #usedUntil = new RecentMap<string, number>(MOST_CALLERS);

  /**
   * A caller that sent nothing for a minute can send `perMinute` messages at the same time. `clock`
   * returns the time in milliseconds since 1970.
   */
  constructor(perMinute: number, clock: () => number) {
    this.#perMinute = perMinute;
    this.#clock = clock;
  }

  /**
   * Counts all of these messages, or none of them. Returns 0 if the messages are allowed now.
   * Otherwise, returns how many milliseconds the caller must wait.
   */
  take(caller: string, messages: number): number {
    const each = MINUTE / this.#perMinute;
    const now = this.#clock();
    const known = this.#usedUntil.get(caller) ?? now;
    // If the stored time is too far in the future, the clock was set back. Ignore the stored time.
    const from = known < now || known > now + MINUTE + MOST_AT_ONCE * each ? now : known;
    // A batch that is larger than the limit is allowed only if the caller sent nothing for a
    // minute. The whole batch is counted, so the caller's next messages must wait longer.
    const wait = Math.max(0, from + Math.min(messages, this.#perMinute) * each - now - MINUTE);
    if (wait > 0) return wait;
    this.#usedUntil.put(caller, from + Math.min(messages, MOST_AT_ONCE) * each);
    return 0;
  }
}
