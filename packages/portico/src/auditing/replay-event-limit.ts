import { RecentMap } from '../http/recent-map.ts';

const A_MINUTE = 60_000;
/** The maximum number of events per minute for one authorization. */
const MOST_EVENTS = 5;
/** The maximum number of authorizations. Above it, the one with the oldest event is forgotten. */
const MOST = 10_000;

interface Counted {
  readonly since: number;
  readonly count: number;
}

/**
 * Limits the audit events about failed sign-ins and about replays that revoke nothing. Browser
 * histories contain used codes. Anyone who finds one could send it again and again, and fill the
 * audit log. Each replay still gets a log line.
 */
export class ReplayEventLimit {
  readonly #counted = new RecentMap<string, Counted>(MOST);
  readonly #clock: () => number;
  readonly #most: number;

  /** `clock` returns milliseconds since 1970. `most` is per minute and authorization. */
  constructor(clock: () => number, most = MOST_EVENTS) {
    this.#clock = clock;
    this.#most = most;
  }

  /** Counts an event. Returns true if it may be recorded. */
  admits(authorization: string): boolean {
    const now = this.#clock();
    const before = this.#counted.get(authorization);
    // The difference is absolute. So a clock that is set back drops events for at most two minutes.
    const isOpen = before !== undefined && Math.abs(now - before.since) < A_MINUTE;
    const { since, count } = isOpen ? before : { since: now, count: 0 };
    if (count >= this.#most) return false;
    this.#counted.put(authorization, { since, count: count + 1 });
    return true;
  }
}
