import type { Log } from '@portico/sql';
import type { AuditRecord } from '../../auditing/kept-audit.ts';
import { recordAsJson } from './record.ts';

/** Stores audit records. */
export interface AuditStore {
  /** Stores all records or none. Resolves when they are durable. */
  insert(records: readonly AuditRecord[]): Promise<void>;
  /** Whether an error comes from the store and not from a record. */
  isUnavailable(error: unknown): boolean;
}

/** The most records in one statement. */
const LARGEST_BATCH = 64;
/** How long a request waits for its record, in milliseconds. */
const LONGEST_WAIT = 1000;
/** How many records may wait while the store does not accept them. */
const MOST_WAITING = 10_000;

interface Waiting {
  readonly record: AuditRecord;
  readonly done: () => void;
}

/**
 * Writes records in the order in which they arrive, one statement at a time. Records that arrive
 * during a statement share the next one.
 *
 * If a record is not stored within a second, it goes to the log, and its request stops waiting.
 * While the store is that slow, no request waits. The record is still stored later if the store
 * accepts it, and then it is in both places.
 */
export class Keeping {
  readonly #store: AuditStore;
  readonly #log: Log;
  readonly #waiting: Waiting[] = [];
  #isWriting = false;
  #isSlow = false;

  constructor(store: AuditStore, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  /** Resolves when the record is stored, or written to the log instead. Never rejects. */
  keep(record: AuditRecord): Promise<void> {
    if (this.#waiting.length >= MOST_WAITING) {
      this.#sayInstead(record, new Error(`${MOST_WAITING} events wait for the store`));
      return Promise.resolve();
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const tooLate = () => {
      this.#isSlow = true;
      this.#sayInstead(
        record,
        new Error('the store did not accept it in time; it may be stored later'),
      );
      resolve();
    };
    const timer = this.#isSlow ? null : setTimeout(tooLate, LONGEST_WAIT);
    const done = () => {
      if (timer !== null) clearTimeout(timer);
      resolve();
    };
    this.#waiting.push({ record, done });
    if (timer === null) tooLate();
    if (!this.#isWriting) void this.#writeAll();
    return promise;
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, batchSize(this.#waiting.length));
      await this.#insert(batch.map(({ record }) => record));
      this.#isSlow = false;
      for (const { done } of batch) done();
    }
    this.#isWriting = false;
  }

  async #insert(records: readonly AuditRecord[]): Promise<void> {
    try {
      await this.#store.insert(records);
    } catch (exception) {
      // If the store rejects one record, it must still store the others.
      if (records.length > 1 && !this.#store.isUnavailable(exception)) {
        for (const record of records) await this.#insert([record]);
      } else {
        for (const record of records) this.#sayInstead(record, exception);
      }
    }
  }

  /** Writes a record to the log. The record contains no secret, so the log can have all of it. */
  #sayInstead(record: AuditRecord, exception: unknown): void {
    try {
      this.#log.error('The audit event {type} was not kept: {exception}', {
        type: record.type,
        exception,
        record: recordAsJson(record),
      });
    } catch {
      // A host's log may throw, for example on a full disk. That must not end the process or stop
      // the waiting records.
    }
  }
}

/** Returns a power of two, so that there are only a few different statements. */
function batchSize(waiting: number): number {
  return Math.min(LARGEST_BATCH, 2 ** Math.floor(Math.log2(waiting)));
}
