import type { Log } from '@portico/sql';
import type { AuditRecord } from '../../auditing/kept-audit.ts';
import { recordAsJson } from './record.ts';

/** Where audit records are stored. */
export interface AuditStore {
  /** Stores either all of the records or none. Resolves when they are durable. */
  insert(records: readonly AuditRecord[]): Promise<void>;
  /** Returns true if the store as a whole failed, and false if it rejected a single record. */
  isUnavailable(error: unknown): boolean;
}

/** How many records one statement inserts at most. */
const LARGEST_BATCH = 64;
/** How long a request waits for its audit record, in milliseconds. */
const LONGEST_WAIT = 1000;
/** The maximum number of waiting records. Further records are written only to the log. */
const MOST_WAITING = 10_000;

interface Waiting {
  readonly record: AuditRecord;
  readonly done: () => void;
  /** True if the record is in the log, because storing it took too long. */
  isLogged: boolean;
}

/**
 * Stores records in the order in which they arrive, with one statement at a time. The next
 * statements store the records that arrived in the meantime, several at a time.
 *
 * If a record is not stored within a second, it goes to the log and the request continues. Until
 * the store responds again, further records go to the log immediately. The store may later accept
 * such a record. The log never contains a record twice.
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

  /** Resolves when the record is stored or in the log. Never rejects. */
  keep(record: AuditRecord): Promise<void> {
    if (this.#waiting.length >= MOST_WAITING) {
      this.#sayInstead(
        record,
        new Error(`${MOST_WAITING} events are already waiting to be stored`),
      );
      return Promise.resolve();
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const tooLate = () => {
      this.#isSlow = true;
      waiting.isLogged = true;
      this.#sayInstead(
        record,
        new Error('the store did not accept the event in time; it may be stored later'),
      );
      resolve();
    };
    const timer = this.#isSlow ? null : setTimeout(tooLate, LONGEST_WAIT);
    const done = () => {
      if (timer !== null) clearTimeout(timer);
      resolve();
    };
    const waiting: Waiting = { record, done, isLogged: false };
    this.#waiting.push(waiting);
    if (timer === null) tooLate();
    if (!this.#isWriting) void this.#writeAll();
    return promise;
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, batchSize(this.#waiting.length));
      await this.#insert(batch);
      this.#isSlow = false;
    }
    this.#isWriting = false;
  }

  async #insert(batch: readonly Waiting[]): Promise<void> {
    try {
      await this.#store.insert(batch.map(({ record }) => record));
    } catch (exception) {
      // A single record may have caused the error. Insert them one by one, so the others are
      // stored.
      if (batch.length > 1 && !this.#store.isUnavailable(exception)) {
        for (const waiting of batch) await this.#insert([waiting]);
        return;
      }
      for (const { record, isLogged } of batch) if (!isLogged) this.#sayInstead(record, exception);
    }
    for (const { done } of batch) done();
  }

  /** Writes the complete record to the log, which is safe: records contain no secrets. */
  #sayInstead(record: AuditRecord, exception: unknown): void {
    this.#log.error('The audit event {type} was not stored: {exception}', {
      type: record.type,
      exception,
      record: recordAsJson(record),
    });
  }
}

/** A power of two, so the database receives only a few different statements. */
function batchSize(waiting: number): number {
  return Math.min(LARGEST_BATCH, 2 ** Math.floor(Math.log2(waiting)));
}
