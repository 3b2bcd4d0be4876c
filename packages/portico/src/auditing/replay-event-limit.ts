import { RecentMap } from '../http/recent-map.ts';

const A_MINUTE = 60_000;
/** The maximum number of events per minute for one authorization. */
const MOST_EVENTS = 5;
/**
 * The maximum number of authorizations whose events are counted. When it is reached, the one with
 * the oldest event is forgotten.
 */
const MOST = 10_000;

interface Counted {
  readonly since: number;
  readonly count: number;
}

/**
 * Limits the audit events about replays that revoke nothing, and about failed sign-ins. Browser
 * histories contain used codes. Anyone who finds one could send it again and again, and fill the
 * audit log with events. The server still writes a log line for each replay.
 */
export class ReplayEventLimit {
  readonly #counted = new RecentMap<string, Counted>(MOST);
  readonly #clock: () => number;
  readonly #most: number;

  /**
   * `clock` returns milliseconds since 1970. `most` is the maximum number of events per minute for
   * one authorization.
   */
  constructor(clock: () => number, most = MOST_EVENTS) {
    this.#clock = clock;
    this.#most = most;
  }

  /** Counts an event, and returns whether it may be recorded. */
  admits(authorization: string): boolean {
    const now = this.#clock();
    const before = this.#counted.get(authorization);
    // Use the absolute difference. If the clock was set back, events are then dropped for at most
    // two minutes.
    const isOpen = before !== undefined && Math.abs(now - before.since) < A_MINUTE;
    const { since, count } = isOpen ? before : { since: now, count: 0 };
    if (count >= this.#most) return false;
    this.#counted.put(authorization, { since, count: count + 1 });
    return true;
  }
}
