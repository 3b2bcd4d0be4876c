import type { Log } from '../../contracts/log.ts';
import type { PrunedRows, Store } from './store.ts';

/** Removes expired rows in small batches, safe while serving. */
export interface Pruning {
  /**
   * Counts an insertion, and at every fiftieth removes a batch: more than was added since, so that the tables shrink by
   * themselves. Never rejects; a failure is logged and tried again later. Null when there is nothing to wait for.
   */
  tick(): Promise<void> | null;
  /** Removes everything that has expired, batch by batch; returns how many rows of each kind went. */
  all(): Promise<PrunedRows>;
}

export interface PruningOptions {
  readonly store: Pick<Store, 'prune'>;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly log: Log;
}

/** Rows of each kind in a batch, and insertions between two batches: a batch removes twice what was added. */
const BATCH = 100;
const INSERTIONS_PER_BATCH = 50;
/** How long rows stay after they have expired, in milliseconds: clocks differ, and a request may be in flight. */
const MARGIN = 3_600_000;

export function createPruning({ store, clock, log }: PruningOptions): Pruning {
  let insertions = 0;

  async function removeBatch(): Promise<void> {
    try {
      await store.prune(clock() - MARGIN, BATCH);
    } catch (exception) {
      log.warning('Expired rows could not be removed: {exception}', { exception });
    }
  }

  return {
    tick() {
      insertions += 1;
      return insertions % INSERTIONS_PER_BATCH === 0 ? removeBatch() : null;
    },
    async all() {
      const total = { families: 0, accessTokens: 0, refreshTokens: 0, consentRequests: 0 };
      for (;;) {
        const pruned = await store.prune(clock() - MARGIN, BATCH);
        total.families += pruned.families;
        total.accessTokens += pruned.accessTokens;
        total.refreshTokens += pruned.refreshTokens;
        total.consentRequests += pruned.consentRequests;
        if (Object.values(pruned).every((count) => count === 0)) return total;
      }
    },
  };
}
