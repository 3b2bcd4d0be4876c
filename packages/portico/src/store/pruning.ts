import type { Log } from '@portico/sql';
import { inBatches, pauseAsLong, type Batch, type Pause } from './batches.ts';
import { COUNTED, NEVER_USED, UNUSED } from './client-expiry.ts';
import type { ExpiredRecords } from './sql/expired.ts';

/** How many rows of each kind were removed. */
export interface PrunedRows {
  /** The number of authorizations, each with its code and its refresh token. */
  readonly families: number;
  /** The number of expired access tokens. */
  readonly accessTokens: number;
  /** The number of requests without an answer or a sign-in in time. */
  readonly consentRequests: number;
  /**
   * The number of removed clients: self-registered ones that were not used within a day, or not for
   * ninety days, and document clients that no person allowed.
   */
  readonly clients: number;
}

/** A feature's rows that are removed after a time. */
export interface ExpiringRows {
  /** The property in `PrunedRows` for their number. The feature declares it there. */
  readonly kind: keyof PrunedRows;
  /** The rows' name in the console, such as `audit events`. */
  readonly called: string;
  /** Which rows are removed. The console prints the name, `that` and this text. */
  readonly which: string;
  /** How many rows are removed at a time. */
  readonly batch: number;
  /** Removes at most `limit` rows. Returns how many it removed. */
  readonly remove: (limit: number) => Promise<number>;
}

export interface PruningOptions {
  readonly store: ExpiredRecords;
  /**
   * Whether there may be clients that no operator registered. Otherwise pruning does not search for
   * them.
   */
  readonly registrations: boolean;
  /** Whether single-use values, such as assertions, are recorded. */
  readonly singleUses: () => boolean;
  /** Returns the features' expiring rows. */
  readonly expiring: () => readonly ExpiringRows[];
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly log: Log;
  /** The pause between two batches of `all`. Defaults to the last batch's duration. */
  readonly pause?: Pause;
}

/**
 * The rows of each kind per batch, and the insertions between two batches. A batch removes twice as
 * many rows as were added.
 */
const BATCH = 100;
const INSERTIONS_PER_BATCH = 50;
/**
 * How long rows stay after they have expired, in milliseconds. Clocks differ, and a request may
 * still be running.
 */
const MARGIN = 3_600_000;
/** Sorts before the id of every access token. */
const FIRST = '';

/** Removes expired rows in small batches. Safe while serving. */
export class Pruning {
  readonly #options: PruningOptions;
  #insertions = 0;
  /** The last id of the search through the access tokens behind the first ones in the table. */
  #looked = FIRST;

  constructor(options: PruningOptions) {
    this.#options = options;
  }

  /**
   * Counts an insertion, and removes a batch after every fiftieth. A batch is larger than the
   * number of added rows, so the tables shrink. Never rejects: failures are logged and retried
   * later. Returns null if there is nothing to wait for.
   */
  tick(): Promise<void> | null {
    this.#insertions += 1;
    return this.#insertions % INSERTIONS_PER_BATCH === 0 ? this.#removeBatch() : null;
  }

  /**
   * Removes everything that has expired, in batches. Pauses between batches so that requests can
   * use the store. Returns how many rows of each kind it removed. Calls `onBatch` with these
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
    // Also search behind the first tokens. Otherwise tokens with a longer lifetime, for example
    // from before a configuration change, would block the removal of later tokens. They could also
    // fill the first batch, so that it removes fewer tokens than were added.
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

  /** Returns one batch function for each kind of row. Each function counts what it removed. */
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
        const { removed, last } = await store.pruneAccessTokens(
          after ?? FIRST,
          this.#expiredBefore(),
          BATCH,
        );
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
