import { setTimeout } from 'node:timers/promises';
import type { Acting } from '../auditing/audit.ts';

/** Rows per batch. Each batch is one commit and locks its rows for a few milliseconds. */
export const BATCH = 500;
/** In milliseconds. Without this limit, one slow batch would cause a long pause. */
const LONGEST_PAUSE = 500;

/** Options for an action that works in batches. */
export interface Lasting extends Acting {
  /**
   * Called after each batch except the last, with the number of authorizations that the action has
   * ended or removed so far.
   */
  readonly report?: (authorizations: number) => void;
}

/** `more` is true if another batch follows. */
export interface Batch {
  readonly count: number;
  readonly more: boolean;
}

/** A batch of rows in the order of their keys. */
export interface OrderedBatch extends Batch {
  /** The key after which the next batch starts, or null after the last row. */
  readonly last: string | null;
}

/** Waits before the next batch. `took` is how long the last batch took, in milliseconds. */
export type Pause = (took: number) => Promise<void>;

/**
 * Returns how long to pause, in milliseconds: as long as the batch took, up to a limit. Meanwhile,
 * requests can use the store.
 */
export const pauseAfter = (took: number): number => Math.min(took, LONGEST_PAUSE);

export const pauseAsLong: Pause = (took) => setTimeout(pauseAfter(took));

/** Sorts before every key. */
const FIRST = '';

/**
 * Handles the next batch of keys, in order. `after` is the last key of the previous batch. `last`
 * is null at the end.
 */
export type Step = (
  after: string,
) => Promise<{ readonly ended: number; readonly last: string | null }>;

/** Returns the total number of ended rows. */
export function inSteps(step: Step, report?: (count: number) => void): Promise<number> {
  let after = FIRST;
  return inBatches(async () => {
    const { ended, last } = await step(after);
    after = last ?? after;
    return { count: ended, more: last !== null };
  }, report);
}

/** Runs batches with pauses until no rows remain. Returns the total number of rows. */
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
