import type { Log } from '@portico/sql';
import { inBatches, pauseAsLong, type Batch, type Pause } from './batches.ts';
import { COUNTED, NEVER_USED, UNUSED } from './client-expiry.ts';
import type { ExpiredRecords } from './sql/expired.ts';

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
  readonly singleUses: () => boolean;
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

/** Removes expired rows in small batches, safe while serving. */
export class Pruning {
  readonly #options: PruningOptions;
  #insertions = 0;
  /** How far access tokens have been looked through behind those that are first in the table. */
  #looked = FIRST;

  constructor(options: PruningOptions) {
    this.#options = options;
  }

  /**
   * Counts an insertion, and at every fiftieth removes a batch: more than was added since, so that the tables shrink by
   * themselves. Never rejects; a failure is logged and tried again later. Null when there is nothing to wait for.
   */
  tick(): Promise<void> | null {
    this.#insertions += 1;
    return this.#insertions % INSERTIONS_PER_BATCH === 0 ? this.#removeBatch() : null;
  }

  /**
   * Removes everything that has expired, batch by batch, with a pause between two, in which others have their turn; returns how many rows
   * of each kind went. `onBatch` is told of that after each.
   */
  async all(onBatch: (removed: PrunedRows) => void = () => {}): Promise<PrunedRows> {
    const { removeOldEvents, pause = pauseAsLong } = this.#options;
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
    for (const batch of this.#kinds(count)) await inBatches(batch, undefined, pause);
    return total;
  }

  async #removeBatch(): Promise<void> {
    const { store, registrations, singleUses, removeOldEvents, log } = this.#options;
    const before = this.#expiredBefore();
    try {
      await store.prune(before, BATCH);
      if (registrations) await this.#removeRegistrations();
      if (singleUses()) await store.pruneSingleUses(before, BATCH);
      if (removeOldEvents !== null) await removeOldEvents(EVENTS_BATCH);
      await this.#removeAccessTokens(before);
    } catch (exception) {
      log.warning('Expired rows could not be removed: {exception}', { exception });
    }
  }

  async #removeAccessTokens(before: number): Promise<void> {
    const { store } = this.#options;
    const oldest = await store.pruneAccessTokens(FIRST, before, BATCH);
    if (oldest.removed === BATCH || oldest.last === null) return;
    // Tokens that live longer, as of before a change of their lifetime, must not protect what comes after them, nor leave so
    // little room in the first batch that less is removed than was added.
    const { last } = await store.pruneAccessTokens(this.#looked, before, BATCH);
    this.#looked = last ?? FIRST;
  }

  #removeRegistrations(): Promise<{ readonly clients: number; readonly more: boolean }> {
    const before = this.#expiredBefore();
    return this.#options.store.pruneRegistrations(
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
  #kinds(count: (removed: Partial<PrunedRows>) => void): readonly (() => Promise<Batch>)[] {
    const { store, removeOldEvents } = this.#options;
    let after: string | null = FIRST;
    const counted = (removed: Partial<PrunedRows>, more: boolean): Batch => {
      count(removed);
      return { count: 0, more };
    };
    return [
      async () => {
        const { more, ...removed } = await store.prune(this.#expiredBefore(), BATCH);
        return counted(removed, more);
      },
      async () => counted({}, (await store.pruneSingleUses(this.#expiredBefore(), BATCH)) > 0),
      async () => {
        const { clients, more } = await this.#removeRegistrations();
        return counted({ clients }, more);
      },
      async () => {
        const { removed, last } = await store.pruneAccessTokens(after ?? FIRST, this.#expiredBefore(), BATCH);
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

  #expiredBefore(): number {
    return this.#options.clock() - MARGIN;
  }
}
