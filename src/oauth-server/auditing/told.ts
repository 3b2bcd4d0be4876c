import { RecentMap } from '../../http/recent-map.ts';

/** In milliseconds. */
const A_MINUTE = 60_000;
/** Of one authorization, or whatever else is told of, in a minute. */
const MOST_TOLD = 5;
/** How many authorizations are remembered; the one that was told of longest ago is forgotten first. */
const MOST = 10_000;

interface Told {
  readonly since: number;
  readonly count: number;
}

/**
 * Whether one more replay is told to the audit that has ended nothing: what was spent opens nothing, stands in histories, and is offered as
 * often as somebody likes, who would fill the audit with it. The log has a line for each. `clock`: milliseconds since 1970.
 */
export function createToldReplays(clock: () => number, most = MOST_TOLD): (authorization: string) => boolean {
  const told = new RecentMap<string, Told>(MOST);
  return (authorization) => {
    const now = clock();
    const before = told.get(authorization);
    // A clock that is set back must not silence anybody for longer.
    const isOpen = before !== undefined && Math.abs(now - before.since) < A_MINUTE;
    const { since, count } = isOpen ? before : { since: now, count: 0 };
    if (count >= most) return false;
    told.put(authorization, { since, count: count + 1 });
    return true;
  };
}
