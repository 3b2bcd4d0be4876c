import { setTimeout } from 'node:timers/promises';
import type { CountedRows } from '../contracts/telemetry.ts';

/** How many rows of a table live: counted slice by slice, seldom, and only while somebody collects. */
export interface Census {
  /** The last whole count; null when there is none yet, or the last one failed. Never rejects, and waits for a second at most. */
  latest(): Promise<number | null>;
}

/** Rows that one statement looks at: some milliseconds on every engine, however large the table is. */
const SLICE = 5000;
/** Between two slices, in milliseconds. */
const PAUSE = 500;
/** A count holds for so many milliseconds at least, and for ten times as long as it took: a million rows take some two minutes. */
const HOLDS = 30_000;
const HOLDS_TIMES = 10;
/** How long a collection waits, in milliseconds. */
const PATIENCE = 1000;

/** Tells milliseconds, and waits for some. */
export interface CensusTimer {
  now(): number;
  pause(milliseconds: number): Promise<void>;
}

const SYSTEM_TIMER: CensusTimer = {
  now: () => performance.now(),
  pause: (milliseconds) => setTimeout(milliseconds, undefined, { ref: false }),
};

/** `count` counts the rows after an id, at most so many. */
export function createCensus(
  count: (after: string, limit: number) => Promise<CountedRows>,
  timer = SYSTEM_TIMER,
): Census {
  let known: number | null = null;
  let counting: Promise<void> | null = null;
  /** From when on the next count may begin. */
  let due = -Infinity;

  async function countAll(): Promise<void> {
    const begun = timer.now();
    try {
      let total = 0;
      for (let after: string | null = ''; after !== null;) {
        const { living, last }: CountedRows = await count(after, SLICE);
        total += living;
        after = last;
        if (after !== null) await timer.pause(PAUSE);
      }
      known = total;
    } catch {
      // The store is away, which other metrics say: an old number would say that it is not.
      known = null;
    }
    const ended = timer.now();
    due = ended + Math.max(HOLDS, (ended - begun) * HOLDS_TIMES);
  }

  return {
    async latest() {
      if (counting === null && timer.now() >= due) {
        counting = countAll().finally(() => {
          counting = null;
        });
      }
      if (counting !== null && known === null) {
        await inTime(counting, undefined);
      }
      return known;
    },
  };
}

/** What the work gives, or this where it takes too long: a collection must not wait for a store that hangs. */
export function inTime<T>(work: Promise<T>, otherwise: T): Promise<T> {
  return Promise.race([work, setTimeout(PATIENCE, otherwise, { ref: false })]);
}
