import { isUnavailable, type Log } from '@portico/sql';
import { inBatches, pauseAsLong, type Batch, type OrderedBatch, type Pause } from './batches.ts';
import { COUNTED, NEVER_USED, UNUSED } from './client-expiry.ts';
import type { ExpiredRecords } from './sql/expired.ts';

/** The number of removed rows of each kind. */
export interface PrunedRows {
  /** The number of removed authorizations, including their codes and refresh tokens. */
  readonly families: number;
  /** The number of removed access tokens. They had expired. */
  readonly accessTokens: number;
  /**
   * The number of removed authorization requests. They had expired, whether or not the user had
   * answered them.
   */
  readonly consentRequests: number;
  /**
   * The number of removed clients. These are document clients that no user has allowed, and
   * self-registered clients that were unused for 90 days, or for the first day after registration.
   */
  readonly clients: number;
}

/** Expiring rows that a feature stores. */
export interface ExpiringRows {
  /** The property of `PrunedRows` for these rows. The feature declares it there. */
  readonly kind: keyof PrunedRows;
  /** The rows' name in the console, for example `audit events`. */
  readonly called: string;
  /** Says which rows were removed. The console prints `called`, "that", and this text. */
  readonly which: string;
  /** The number of rows per batch. */
  readonly batch: number;
  /**
   * Removes at most `limit` rows. Returns the number of removed rows. If no index finds the rows,
   * reads at most `limit` rows, and also returns whether it must read more. If it reads the rows in
   * the order of their keys, it starts after the key `after`, which is empty at first.
   */
  readonly remove: (limit: number, after: string) => Promise<number | Batch | OrderedBatch>;
}

export interface ExpiringOfFeatures {
  readonly expiring: readonly ExpiringRows[];
  /** True if a feature records single-use values, for example assertions. */
  readonly usesOnce: boolean;
}

/**
 * How many rows of each kind a batch removes. This is twice as many as the server adds between two
 * batches.
 */
const BATCH = 100;
const INSERTIONS_PER_BATCH = 50;
/**
 * How long rows stay after they expire, in milliseconds. Clocks of two processes can differ, and a
 * running request may still need a row.
 */
const MARGIN = 3_600_000;
/** Sorts before every access token's id. */
const FIRST = '';

/** Removes expired rows in small batches while the server handles requests. */
export class Pruning {
  readonly #store: ExpiredRecords;
  readonly #features: () => ExpiringOfFeatures;
  readonly #registrations: boolean;
  readonly #clock: () => number;
  readonly #log: Log;
  readonly #pause: Pause;
  #insertions = 0;
  /**
   * Where a batch continues to search for expired access tokens. Each batch also searches from the
   * beginning of the table.
   */
  #looked = FIRST;
  /**
   * How often the store was unavailable. Each time, batches start with another kind, because the
   * statements of one kind alone may take too long.
   */
  #outages = 0;
  /** The key after which the next batch of a feature's rows starts, by kind. */
  readonly #reached = new Map<string, string>();

  /**
   * `registrations` is true if applications can become clients without an operator. If false,
   * `tick` does not look for such clients. `pause` waits between two batches of `all`, by default
   * as long as the last batch took.
   */
  constructor(
    store: ExpiredRecords,
    features: () => ExpiringOfFeatures,
    registrations: boolean,
    clock: () => number,
    log: Log,
    pause: Pause = pauseAsLong,
  ) {
    this.#store = store;
    this.#features = features;
    this.#registrations = registrations;
    this.#clock = clock;
    this.#log = log;
    this.#pause = pause;
  }

  /**
   * Counts an insertion. Every fiftieth one starts a batch. A batch can remove more rows than were
   * added, so the tables shrink. Returns null if no batch starts. The promise never rejects: a
   * failure is logged, and a later batch tries again.
   */
  tick(): Promise<void> | null {
    this.#insertions += 1;
    return this.#insertions % INSERTIONS_PER_BATCH === 0 ? this.#removeBatch() : null;
  }

  /**
   * Removes all expired rows in batches, and returns how many of each kind. Pauses after each
   * batch, so that requests can use the store. Calls `onBatch` with the numbers so far. If kinds
   * fail, removes the others. Then rejects with the first failure and logs the rest.
   */
  async all(onBatch: (removed: PrunedRows) => void = () => {}): Promise<PrunedRows> {
    const total: { -readonly [Kind in keyof PrunedRows]: number } = {
      families: 0,
      consentRequests: 0,
      clients: 0,
      accessTokens: 0,
      ...Object.fromEntries(this.#features().expiring.map(({ kind }) => [kind, 0])),
    };
    const count = (removed: Partial<PrunedRows>) => {
      for (const kind of Object.keys(total) as (keyof PrunedRows)[])
        total[kind] = (total[kind] ?? 0) + (removed[kind] ?? 0);
      onBatch({ ...total });
    };
    const failures: unknown[] = [];
    for (const batch of this.#kinds(count)) {
      await inBatches(batch, undefined, this.#pause).catch((error: unknown) =>
        failures.push(error),
      );
    }
    if (failures.length === 0) return total;
    const [first, ...others] = failures;
    for (const each of others) this.#warn(each);
    throw first;
  }

  async #removeBatch(): Promise<void> {
    const store = this.#store;
    const { expiring, usesOnce } = this.#features();
    const before = this.#expiredBefore();
    const kinds = [
      () => store.prune(before, BATCH),
      ...(this.#registrations ? [() => this.#removeRegistrations()] : []),
      ...(usesOnce ? [() => store.pruneSingleUses(before, BATCH)] : []),
      ...expiring.map((each) => () => this.#removeNext(each)),
      () => this.#removeAccessTokens(before),
    ];
    const begin = this.#outages % kinds.length;
    // Try each kind, so that one damaged table does not let the others grow. But if the store is
    // unavailable, stop, because a request may wait for this batch.
    for (const remove of [...kinds.slice(begin), ...kinds.slice(0, begin)]) {
      try {
        await remove();
      } catch (exception) {
        this.#warn(exception);
        if (!isUnavailable(exception)) continue;
        this.#outages += 1;
        return;
      }
    }
  }

  #warn(exception: unknown): void {
    this.#log.warning('Expired rows could not be removed: {exception}', { exception });
  }

  async #removeAccessTokens(before: number): Promise<void> {
    const store = this.#store;
    const oldest = await store.pruneAccessTokens(FIRST, before, BATCH);
    if (oldest.removed === BATCH || oldest.last === null) return;
    // Also search further into the table. After an operator shortened the access token lifetime,
    // newer tokens can expire before older ones. The first search alone would then remove fewer
    // tokens than are added.
    const { last } = await store.pruneAccessTokens(this.#looked, before, BATCH);
    this.#looked = last ?? FIRST;
  }

  async #removeNext({ kind, batch, remove }: ExpiringRows): Promise<void> {
    const removed = await remove(batch, this.#reached.get(kind) ?? FIRST);
    this.#reached.set(kind, nextAfter(removed));
  }

  #removeRegistrations(): Promise<{ readonly clients: number; readonly more: boolean }> {
    const before = this.#expiredBefore();
    return this.#store.pruneRegistrations(
      {
        neverUsedBefore: before - NEVER_USED,
        unusedBefore: before - UNUSED,
        expiredBefore: before,
        uncountedBefore: before - COUNTED,
      },
      BATCH,
    );
  }

  /** Returns one batch function for each kind of row. Each counts the rows that it removes. */
  #kinds(count: (removed: Partial<PrunedRows>) => void): readonly (() => Promise<Batch>)[] {
    const store = this.#store;
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
      ...this.#features().expiring.map(({ kind, remove, batch }) => {
        // Another process may remove the same rows, so a small batch can mean that more remain. End
        // only after two of them.
        let wasShort = false;
        let reached = FIRST;
        return async () => {
          const removed = await remove(batch, reached);
          reached = nextAfter(removed);
          if (typeof removed !== 'number') return counted({ [kind]: removed.count }, removed.more);
          const isLast = wasShort && removed < batch;
          wasShort = removed < batch;
          return counted({ [kind]: removed }, !isLast);
        };
      }),
    ];
  }

  #expiredBefore(): number {
    return this.#clock() - MARGIN;
  }
}

/** Returns the key after which the next batch starts. */
function nextAfter(removed: number | Batch | OrderedBatch): string {
  return typeof removed === 'object' && 'last' in removed ? (removed.last ?? FIRST) : FIRST;
}
