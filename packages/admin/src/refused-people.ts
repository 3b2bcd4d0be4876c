import type { PersonReference } from 'portico';
import { RecentMap } from 'portico/extension';

/**
 * The minimum time between two audit events for the same user and reason, in milliseconds. An event
 * also counts the requests that were rejected since the previous event.
 */
const A_MINUTE = 60_000;
/**
 * The maximum number of entries. Each combination of user and reason has one entry. When the map is
 * full, a new entry replaces the one with the oldest event.
 */
const MOST = 10_000;

interface Told {
  readonly at: number;
  /** The number of rejected requests since the last event. */
  readonly untold: number;
}

/**
 * Counts rejected requests, so that one user cannot fill the stored audit log with events. The
 * server still writes a log line for each rejected request.
 */
export class RefusedPeople {
  readonly #told = new RecentMap<string, Told>(MOST);
  readonly #clock: () => number;

  /** `clock` returns milliseconds since 1970. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /**
   * Counts a rejected request. Returns null if the last event for this user and reason is less than
   * a minute old. Otherwise, returns the number to report in a new event: all rejected requests
   * since the last event, including this one.
   */
  count({ provider, id }: PersonReference, reason: string): number | null {
    const key = JSON.stringify([provider, id, reason]);
    const now = this.#clock();
    const before = this.#told.get(key);
    // Use the absolute difference. Otherwise, after the clock is set back, the server would emit no
    // events for a long time.
    if (before !== undefined && Math.abs(now - before.at) < A_MINUTE) {
      this.#told.set(key, { ...before, untold: before.untold + 1 });
      return null;
    }
    this.#told.put(key, { at: now, untold: 0 });
    return (before?.untold ?? 0) + 1;
  }
}
