import { setTimeout } from 'node:timers/promises';
import type { Acting } from '../auditing/audit.ts';

/** Rows in a batch: each is a commit of its own, and holds the locks of so many rows for some milliseconds. */
export const BATCH = 500;
/** In milliseconds: a store that is slow is not helped by waiting longer. */
const LONGEST_PAUSE = 500;

/** What an action that lasts is given beside its arguments. */
export interface Lasting extends Acting {
  /** Told how many authorizations have ended so far, or been removed, after each batch. */
  readonly report?: (authorizations: number) => void;
}

/** What a batch did, and whether another is to follow. */
export interface Batch {
  readonly count: number;
  readonly more: boolean;
}

/** Waits before the next batch, of which the last took so many milliseconds. */
export type Pause = (took: number) => Promise<void>;

/**
 * Milliseconds to wait after a batch that took so many: as long as it took, so that requests have
 * the store for at least half of the time.
 */
export const pauseAfter = (took: number): number => Math.min(took, LONGEST_PAUSE);

export const pauseAsLong: Pause = (took) => setTimeout(pauseAfter(took));

/** Does one batch after the other until none is left, with a pause between two; how many rows it was in all. */
export async function inBatches(
  batch: () => Promise<Batch>,
  report: (count: number) => void = () => {},
  pause: Pause = pauseAsLong,
): Promise<number> {
  let total = 0;
  for (;;) {
    const began = performance.now();
    const { count, more } = await batch();
    total += count;
    if (!more) return total;
    report(total);
    await pause(performance.now() - began);
  }
}
