import type { Log } from '../../contracts/log.ts';
import { inBatches, pauseAsLong, type Batch, type Pause } from './batches.ts';
import { COUNTED, NEVER_USED, UNUSED } from './client-expiry.ts';
import type { ExpiredRecords } from './sql/expired.ts';

/** Removes expired rows in small batches, safe while serving. */
export interface Pruning {
  /**
   * Counts an insertion, and at every fiftieth removes a batch: more than was added since, so that the tables shrink by
   * themselves. Never rejects; a failure is logged and tried again later. Null when there is nothing to wait for.
   */
  tick(): Promise<void> | null;
  /**
   * Removes everything that has expired, batch by batch, with a pause between two, in which others have their turn; returns how many rows
   * of each kind went. `onBatch` is told of that after each.
   */
  all(onBatch?: (removed: PrunedRows) => void): Promise<PrunedRows>;
}

/** How many rows of each kind were removed. */
export interface PrunedRows {
  /** Authorizations, each with its code and its refresh token. */
  readonly families: number;
  /** Those that have expired. */
  readonly accessTokens: number;
  /** Those that nobody answered in time, or signed in for. */
  readonly consentRequests: number;
  /** Those that registered themselves and were never used for a day, or not for ninety; and documents that nobody allowed. */
  readonly clients: number;
  /** Audit events that were kept for longer than `oauth_server:audit:retention_days`; absent where that is not set. */
  readonly auditEvents?: number;
}

export interface PruningOptions {
  readonly store: ExpiredRecords;
  /** Whether there may be clients that no operator registered: only then are those looked for now and then. */
  readonly registrations: boolean;
  /** Whether anything is taken that is good once, such as assertions. */
  readonly singleUses: boolean;
  /** Removes at most so many audit events that are kept for too long; null where none is. */
  readonly removeOldEvents: ((limit: number) => Promise<number>) | null;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly log: Log;
  /** Between two batches of all; as long as the last one took unless given. */
  readonly pause?: Pause;
}

/** Rows of each kind in a batch, and insertions between two batches: a batch removes twice what was added. */
const BATCH = 100;
const INSERTIONS_PER_BATCH = 50;
/** Audit events in a batch: an authorization is several. */
const EVENTS_BATCH = 500;
/** How long rows stay after they have expired, in milliseconds: clocks differ, and a request may be in flight. */
const MARGIN = 3_600_000;
/** Before the id of every access token. */
const FIRST = '';

export function createPruning(options: PruningOptions): Pruning {
  const { store, registrations, singleUses, removeOldEvents, clock, log, pause = pauseAsLong } = options;
  let insertions = 0;
  /** How far access tokens have been looked through behind those that are first in the table. */
  let looked = FIRST;

  async function removeBatch(): Promise<void> {
    const before = clock() - MARGIN;
    try {
      await store.prune(before, BATCH);
      if (registrations) await removeRegistrations();
      if (singleUses) await store.pruneSingleUses(before, BATCH);
      if (removeOldEvents !== null) await removeOldEvents(EVENTS_BATCH);
      const oldest = await store.pruneAccessTokens(FIRST, before, BATCH);
      if (oldest.removed === BATCH || oldest.last === null) return;
      // Tokens that live longer, as of before a change of their lifetime, must not protect what comes after them, nor leave so
      // little room in the first batch that less is removed than was added.
      const { last } = await store.pruneAccessTokens(looked, before, BATCH);
      looked = last ?? FIRST;
    } catch (exception) {
      log.warning('Expired rows could not be removed: {exception}', { exception });
    }
  }

  function removeRegistrations(): Promise<{ readonly clients: number; readonly more: boolean }> {
    const before = clock() - MARGIN;
    return store.pruneRegistrations(
      {
        neverUsedBefore: before - NEVER_USED,
        unusedBefore: before - UNUSED,
        expiredBefore: before,
        uncountedBefore: before - COUNTED,
      },
      BATCH,
    );
  }

  /** Everything that can be removed, each kind as one batch of it, which counts what it removed. */
  function kinds(count: (removed: Partial<PrunedRows>) => void): readonly (() => Promise<Batch>)[] {
    let after: string | null = FIRST;
    const counted = (removed: Partial<PrunedRows>, more: boolean): Batch => {
      count(removed);
      return { count: 0, more };
    };
    return [
      async () => {
        const { more, ...removed } = await store.prune(clock() - MARGIN, BATCH);
        return counted(removed, more);
      },
      async () => counted({}, (await store.pruneSingleUses(clock() - MARGIN, BATCH)) > 0),
      async () => {
        const { clients, more } = await removeRegistrations();
        return counted({ clients }, more);
      },
      async () => {
        const { removed, last } = await store.pruneAccessTokens(after ?? FIRST, clock() - MARGIN, BATCH);
        after = last;
        return counted({ accessTokens: removed }, last !== null);
      },
      async () => {
        if (removeOldEvents === null) return { count: 0, more: false };
        const auditEvents = await removeOldEvents(EVENTS_BATCH);
        return counted({ auditEvents }, auditEvents === EVENTS_BATCH);
      },
    ];
  }

  return {
    tick() {
      insertions += 1;
      return insertions % INSERTIONS_PER_BATCH === 0 ? removeBatch() : null;
    },
    async all(onBatch = () => {}) {
      const total = {
        families: 0,
        consentRequests: 0,
        clients: 0,
        accessTokens: 0,
        ...(removeOldEvents === null ? {} : { auditEvents: 0 }),
      };
      const count = (removed: Partial<PrunedRows>) => {
        for (const kind of Object.keys(total) as (keyof PrunedRows)[])
          total[kind] = (total[kind] ?? 0) + (removed[kind] ?? 0);
        onBatch({ ...total });
      };
      for (const batch of kinds(count)) await inBatches(batch, undefined, pause);
      return total;
    },
  };
}
