import type { PersonReference } from 'portico';
import { RecentMap } from 'portico/extension';

/**
 * The minimum time between two events about the same user and reason, in milliseconds. Each event
 * includes the number of requests that were rejected since the previous event.
 */
const A_MINUTE = 60_000;
/**
 * The maximum number of entries. There is one entry for each user and reason. At the limit, a new
 * entry replaces the entry with the oldest event.
 */
const MOST = 10_000;

interface Told {
  readonly at: number;
  /** The number of requests that were rejected since the last event. */
  readonly untold: number;
}

/**
 * Counts rejected requests, so that one user cannot fill the stored audit log with events. The log
 * file still contains a line for each rejected request.
 */
export class RefusedPeople {
  readonly #told = new RecentMap<string, Told>(MOST);
  readonly #clock: () => number;

  /** `clock` returns milliseconds since 1970. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /**
   * Counts a rejected request. If the last event for this user and reason is at least a minute old,
   * returns the number for a new event: this request and all requests that were rejected since the
   * last event. Otherwise, returns null.
   */
  count({ provider, id }: PersonReference, reason: string): number | null {
    const key = JSON.stringify([provider, id, reason]);
    const now = this.#clock();
    const before = this.#told.get(key);
    // Compare the absolute difference. Otherwise, after the clock is set back, the server would
    // emit no event for a long time.
    if (before !== undefined && Math.abs(now - before.at) < A_MINUTE) {
      this.#told.set(key, { ...before, untold: before.untold + 1 });
      return null;
    }
    this.#told.put(key, { at: now, untold: 0 });
    return (before?.untold ?? 0) + 1;
  }
}
