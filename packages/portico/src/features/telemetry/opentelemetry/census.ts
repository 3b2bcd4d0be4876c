import { setTimeout } from 'node:timers/promises';
import type { CountedRows } from '../../../store/sql/counting.ts';

/**
 * Rows per statement. A statement then takes a few milliseconds on every database, even for a large
 * table.
 */
const SLICE = 5000;
/** The pause between two slices, in milliseconds. */
const PAUSE = 500;
/**
 * How long a count is reported before the next one: at least `HOLDS` milliseconds, and at least
 * `HOLDS_TIMES` times as long as the last count took. Counting a million rows takes about two
 * minutes.
 */
const HOLDS = 30_000;
const HOLDS_TIMES = 10;
/** How long metrics collection waits for a count, in milliseconds. */
const PATIENCE = 1000;

/** Times are in milliseconds. */
export interface CensusTimer {
  now(): number;
  pause(milliseconds: number): Promise<void>;
}

const SYSTEM_TIMER: CensusTimer = {
  now: () => performance.now(),
  pause: (milliseconds) => setTimeout(milliseconds, undefined, { ref: false }),
};

/**
 * Counts the active rows of a table in slices. A count begins only when the application collects
 * metrics.
 */
export class Census {
  readonly #count: (after: string, limit: number) => Promise<CountedRows>;
  readonly #timer: CensusTimer;
  #known: number | null = null;
  #counting: Promise<void> | null = null;
  /** When the next count may begin. */
  #due = -Infinity;

  /** `count` counts active rows after the id `after`, and reads at most `limit` rows. */
  constructor(count: (after: string, limit: number) => Promise<CountedRows>, timer = SYSTEM_TIMER) {
    this.#count = count;
    this.#timer = timer;
  }

  /**
   * Returns the last complete count. Returns null before the first count, or if the last one
   * failed. Never rejects, and takes at most a second.
   */
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
      // The store is not available. An old number would suggest that it still works.
      this.#known = null;
    }
    const ended = this.#timer.now();
    this.#due = ended + Math.max(HOLDS, (ended - begun) * HOLDS_TIMES);
  }
}

/**
 * Returns `otherwise` if the work takes too long. Metrics collection then does not wait for a store
 * that does not respond.
 */
export function inTime<T>(work: Promise<T>, otherwise: T): Promise<T> {
  return Promise.race([work, setTimeout(PATIENCE, otherwise, { ref: false })]);
}
