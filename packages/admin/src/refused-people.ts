import type { PersonReference } from 'portico';
import { RecentMap } from 'portico/extension';

/**
 * The time that one event covers, in milliseconds. In this time, all refusals of a person with the
 * same reason belong to the event.
 */
const A_MINUTE = 60_000;
/**
 * The most pairs of person and reason that are kept. If there are more, the pair with the oldest
 * event is removed.
 */
const MOST = 10_000;

interface Told {
  readonly at: number;
  /** The number of refusals since the event. */
  readonly untold: number;
}

/**
 * Counts refusals, so that one person cannot fill the stored audit. The log still contains a line
 * for each refusal.
 */
export class RefusedPeople {
  readonly #told = new RecentMap<string, Told>(MOST);
  readonly #clock: () => number;

  /** `clock` returns milliseconds since 1970. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /**
   * Counts a refusal. Returns how many refusals the next event should report: this refusal and all
   * refusals since the last event. Returns null if there should be no event, because the last event
   * for this person and reason was less than a minute ago.
   */
  count({ provider, id }: PersonReference, reason: string): number | null {
    const key = JSON.stringify([provider, id, reason]);
    const now = this.#clock();
    const before = this.#told.get(key);
    // Compare the absolute difference, so that a clock that is set back does not suppress events
    // for longer.
    if (before !== undefined && Math.abs(now - before.at) < A_MINUTE) {
      this.#told.set(key, { ...before, untold: before.untold + 1 });
      return null;
    }
    this.#told.put(key, { at: now, untold: 0 });
    return (before?.untold ?? 0) + 1;
  }
}
