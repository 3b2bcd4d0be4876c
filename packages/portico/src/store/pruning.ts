import type { Log } from '@portico/sql';
import { inBatches, pauseAsLong, type Batch, type Pause } from './batches.ts';
import { COUNTED, NEVER_USED, UNUSED } from './client-expiry.ts';
import type { ExpiredRecords } from './sql/expired.ts';

/** How many rows of each kind were removed. */
export interface PrunedRows {
  /** Authorizations, each with its code and its refresh token. */
  readonly families: number;
  /** Expired access tokens. */
  readonly accessTokens: number;
  /** Requests that were not answered, or not signed in for, in time. */
  readonly consentRequests: number;
  /**
   * Clients that registered themselves and were never used within a day, or not for ninety days;
   * and documents that no one allowed.
   */
  readonly clients: number;
}

/** Rows of a feature that are removed after a time. */
export interface ExpiringRows {
  /** Their number in `PrunedRows`, which the feature declares there. */
  readonly kind: keyof PrunedRows;
  /** What the console calls them, such as `audit events`. */
  readonly called: string;
  /** Behind what it calls them and `that`: which ones are removed. */
  readonly which: string;
  /** How many are removed at a time. */
  readonly batch: number;
  /** Removes at most `limit`. Returns how many. */
  readonly remove: (limit: number) => Promise<number>;
}

export interface PruningOptions {
  readonly store: ExpiredRecords;
  /** Whether there may be clients that no operator registered. Only then are they looked for. */
  readonly registrations: boolean;
  /** Whether anything for single use is recorded, such as assertions. */
  readonly singleUses: () => boolean;
  /** What features remove besides. */
  readonly expiring: () => readonly ExpiringRows[];
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly log: Log;
  /** The pause between two batches of `all`; as long as the last batch took unless given. */
  readonly pause?: Pause;
}

/**
 * Rows of each kind per batch, and insertions between two batches. A batch removes twice what was
 * added.
 */
const BATCH = 100;
const INSERTIONS_PER_BATCH = 50;
/**
 * How long rows stay after they have expired, in milliseconds. Clocks differ, and a request may be
 * running.
 */
const MARGIN = 3_600_000;
/** Sorts before the id of every access token. */
const FIRST = '';

/** Removes expired rows in small batches. Safe while serving. */
export class Pruning {
  readonly #options: PruningOptions;
  #insertions = 0;
  /** How far the access tokens after the first ones in the table have been searched. */
  #looked = FIRST;

  constructor(options: PruningOptions) {
    this.#options = options;
  }

  /**
   * Counts an insertion, and removes a batch at every fiftieth. A batch is larger than what was
   * added, so the tables shrink by themselves. Never rejects; a failure is logged and retried
   * later. Null when there is nothing to wait for.
   */
  tick(): Promise<void> | null {
    this.#insertions += 1;
    return this.#insertions % INSERTIONS_PER_BATCH === 0 ? this.#removeBatch() : null;
  }

  /**
   * Removes everything that has expired, batch by batch, with a pause between two so that requests
   * have their turn. Returns how many rows of each kind it removed. Calls `onBatch` with these
   * numbers after each batch.
   */
  async all(onBatch: (removed: PrunedRows) => void = () => {}): Promise<PrunedRows> {
    const { expiring, pause = pauseAsLong } = this.#options;
    const total: { -readonly [Kind in keyof PrunedRows]: number } = {
      families: 0,
      consentRequests: 0,
      clients: 0,
      accessTokens: 0,
      ...Object.fromEntries(expiring().map(({ kind }) => [kind, 0])),
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
    const { store, registrations, singleUses, expiring, log } = this.#options;
    const before = this.#expiredBefore();
    try {
      await store.prune(before, BATCH);
      if (registrations) await this.#removeRegistrations();
      if (singleUses()) await store.pruneSingleUses(before, BATCH);
      for (const { remove, batch } of expiring()) await remove(batch);
      await this.#removeAccessTokens(before);
    } catch (exception) {
      log.warning('Expired rows could not be removed: {exception}', { exception });
    }
  }

  async #removeAccessTokens(before: number): Promise<void> {
    const { store } = this.#options;
    const oldest = await store.pruneAccessTokens(FIRST, before, BATCH);
    if (oldest.removed === BATCH || oldest.last === null) return;
    // Tokens that live longer, as from before a change of the lifetime, must not protect the tokens
    // after them. Nor must they leave so little room in the first batch that it removes less than
    // was added.
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

  /** Everything that can be removed, one batch function per kind. Each counts what it removed. */
  #kinds(count: (removed: Partial<PrunedRows>) => void): readonly (() => Promise<Batch>)[] {
    const { store, expiring } = this.#options;
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
      ...expiring().map(({ kind, remove, batch }) => async () => {
        const removed = await remove(batch);
        return counted({ [kind]: removed }, removed === batch);
      }),
    ];
  }

  #expiredBefore(): number {
    return this.#options.clock() - MARGIN;
  }
}
