import { setTimeout } from 'node:timers/promises';
import type { Acting } from '../auditing/audit.ts';

/** Rows per batch. Each batch is one commit, and locks so many rows for a few milliseconds. */
export const BATCH = 500;
/** In milliseconds. Longer pauses would not help a slow store. */
const LONGEST_PAUSE = 500;

/** Options of a long-running action. */
export interface Lasting extends Acting {
  /**
   * Called after each batch with the number of authorizations that have ended or been removed so
   * far.
   */
  readonly report?: (authorizations: number) => void;
}

/** What a batch did, and whether another one follows. */
export interface Batch {
  readonly count: number;
  readonly more: boolean;
}

/** Waits before the next batch. `took` is how long the last one took, in milliseconds. */
export type Pause = (took: number) => Promise<void>;

/**
 * The pause after a batch, in milliseconds: as long as the batch took, so that requests have the
 * store at least half of the time.
 */
export const pauseAfter = (took: number): number => Math.min(took, LONGEST_PAUSE);

export const pauseAsLong: Pause = (took) => setTimeout(pauseAfter(took));

/**
 * Runs batches until nothing is left, with a pause between two. Returns the total number of rows.
 */
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
