import { RecentMap } from '../http/recent-map.ts';

const A_MINUTE = 60_000;
/** The maximum number of events about one authorization per minute. */
const MOST_EVENTS = 5;
/**
 * The maximum number of authorizations to count events for. When it is reached, the authorization
 * with the oldest event is forgotten.
 */
const MOST = 10_000;

interface Counted {
  readonly since: number;
  readonly count: number;
}

/**
 * Limits audit events about replays that revoke nothing. Used codes remain in browser histories.
 * Anyone who finds one can send it any number of times and fill the audit log with events. The
 * normal log still contains a line for every replay.
 */
export class ReplayEventLimit {
  readonly #counted = new RecentMap<string, Counted>(MOST);
  readonly #clock: () => number;
  readonly #most: number;

  /**
   * `clock` returns milliseconds since 1970. `most` is the maximum number of events per minute and
   * authorization.
   */
  constructor(clock: () => number, most = MOST_EVENTS) {
    this.#clock = clock;
    this.#most = most;
  }

  /** Counts an event. Returns whether to record it. */
  admits(authorization: string): boolean {
    const now = this.#clock();
    const before = this.#counted.get(authorization);
    // If the clock was set back, events are dropped for at most a minute.
    const isOpen = before !== undefined && Math.abs(now - before.since) < A_MINUTE;
    const { since, count } = isOpen ? before : { since: now, count: 0 };
    if (count >= this.#most) return false;
    this.#counted.put(authorization, { since, count: count + 1 });
    return true;
  }
}
