import type { Log } from '../contracts/log.ts';
import type { PrunedRows, Store } from './store/store.ts';

/** Removes expired rows in small batches, safe while serving. */
export interface Pruning {
  /**
   * Counts one issue, and now and then removes a batch: more than was added since, so that the tables shrink by
   * themselves. Never rejects; a failure is logged and tried again later. Null when there is nothing to wait for.
   */
  tick(): Promise<void> | null;
  /** Removes all that can go, batch by batch; answers how many rows of each kind went. */
  all(): Promise<PrunedRows>;
}

export interface PruningOptions {
  readonly store: Pick<Store, 'prune'>;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly log: Log;
}

/** Rows of each kind in a batch, and issues between two batches: a batch removes twice what was added. */
const BATCH = 100;
const ISSUES_PER_BATCH = 50;
/** Rows stay an hour longer than needed: clocks differ, and a request may be under way. In milliseconds. */
const MARGIN = 3_600_000;

export function createPruning({ store, clock, log }: PruningOptions): Pruning {
  let issues = 0;

  async function removeBatch(): Promise<void> {
    try {
      await store.prune(clock() - MARGIN, BATCH);
    } catch (exception) {
      log.warning('Expired rows could not be removed: {exception}', { exception });
    }
  }

  return {
    tick() {
      issues += 1;
      return issues % ISSUES_PER_BATCH === 0 ? removeBatch() : null;
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
