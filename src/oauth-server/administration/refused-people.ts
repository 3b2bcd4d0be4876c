import type { PersonReference } from '../../contracts/person.ts';
import { RecentMap } from '../../http/recent-map.ts';

/** For how long one event stands for all refusals of a person for one reason, in milliseconds. */
const A_MINUTE = 60_000;
/** How many people are remembered, each for one reason; the one whose event is oldest is forgotten first. */
const MOST = 10_000;

/** Counts refusals, so that one person alone cannot fill the audit that is kept. The log has a line for each. */
export interface RefusedPeople {
  /**
   * Counts a refusal. How many an event is to stand for, this one and those since the event before; null when it is to have none, since
   * there was one for the same person and reason less than a minute ago.
   */
  count(person: PersonReference, reason: string): number | null;
}

interface Told {
  readonly at: number;
  /** Refusals since then. */
  readonly untold: number;
}

/** `clock`: milliseconds since 1970. */
export function createRefusedPeople(clock: () => number): RefusedPeople {
  const told = new RecentMap<string, Told>(MOST);
  return {
    count({ provider, id }, reason) {
      const key = JSON.stringify([provider, id, reason]);
      const now = clock();
      const before = told.get(key);
      // A clock that is set back must not silence anybody for longer.
      if (before !== undefined && Math.abs(now - before.at) < A_MINUTE) {
        told.set(key, { ...before, untold: before.untold + 1 });
        return null;
      }
      told.put(key, { at: now, untold: 0 });
      return (before?.untold ?? 0) + 1;
    },
  };
}
