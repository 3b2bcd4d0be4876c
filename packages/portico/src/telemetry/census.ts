import { setTimeout } from 'node:timers/promises';
import type { CountedRows } from '../contracts/telemetry.ts';

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

/** How many rows of a table live: counted slice by slice, seldom, and only while metrics are collected. */
export class Census {
  readonly #count: (after: string, limit: number) => Promise<CountedRows>;
  readonly #timer: CensusTimer;
  #known: number | null = null;
  #counting: Promise<void> | null = null;
  /** From when on the next count may begin. */
  #due = -Infinity;

  /** `count` counts the rows after an id, at most so many. */
  constructor(count: (after: string, limit: number) => Promise<CountedRows>, timer = SYSTEM_TIMER) {
    this.#count = count;
    this.#timer = timer;
  }

  /** The last whole count; null when there is none yet, or the last one failed. Never rejects, and waits for a second at most. */
  async latest(): Promise<number | null> {
    if (this.#counting === null && this.#timer.now() >= this.#due) {
      this.#counting = this.#countAll().finally(() => {
        this.#counting = null;
      });
    }
    if (this.#counting !== null && this.#known === null) await inTime(this.#counting, undefined);
    return this.#known;
  }

  async #countAll(): Promise<void> {
    const begun = this.#timer.now();
    try {
      let total = 0;
      for (let after: string | null = ''; after !== null;) {
        const { living, last }: CountedRows = await this.#count(after, SLICE);
        total += living;
        after = last;
        if (after !== null) await this.#timer.pause(PAUSE);
      }
      this.#known = total;
    } catch {
      // The store is away, which other metrics say: an old number would say that it is not.
      this.#known = null;
    }
    const ended = this.#timer.now();
    this.#due = ended + Math.max(HOLDS, (ended - begun) * HOLDS_TIMES);
  }
}

/** What the work gives, or this where it takes too long: a collection must not wait for a store that hangs. */
export function inTime<T>(work: Promise<T>, otherwise: T): Promise<T> {
  return Promise.race([work, setTimeout(PATIENCE, otherwise, { ref: false })]);
}
