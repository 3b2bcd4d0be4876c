import type { Log } from '@portico/sql';
import { recordAsJson, type AuditRecord } from './record.ts';

/** Where records are kept. */
export interface AuditStore {
  /** Keeps them all or none; resolves when that is durable. */
  insert(records: readonly AuditRecord[]): Promise<void>;
  /** Whether an error is about the store, not about a record. */
  isUnavailable(error: unknown): boolean;
}

/** Keeps a record; resolves when it is kept, or was said in the log instead. Never rejects. */
export type Keep = (record: AuditRecord) => Promise<void>;

/** The most records of one statement. */
const LARGEST_BATCH = 64;
/** For how long a request waits for its record, in milliseconds. */
const LONGEST_WAIT = 1000;
/** How many records may wait for a store that does not take them. */
const MOST_WAITING = 10_000;

interface Waiting {
  readonly record: AuditRecord;
  readonly done: () => void;
}

/**
 * Writes records in the order in which they come, one statement at a time: those that come meanwhile share the next one. A record that
 * is not kept within a second is said in the log, so that the request need not wait any longer; while the store is that slow, none
 * waits. It is kept later if the store still takes it, and is then in both.
 */
export function createKeeping({ store, log }: { readonly store: AuditStore; readonly log: Log }): Keep {
  const waiting: Waiting[] = [];
  let isWriting = false;
  let isSlow = false;

  /** The record holds no secret, so the log may have it whole. */
  function sayInstead(record: AuditRecord, exception: unknown): void {
    try {
      log.error('The audit event {type} was not kept: {exception}', {
        type: record.type,
        exception,
        record: recordAsJson(record),
      });
    } catch {
      // A log that throws, such as a host's own on a full disk, must neither end the process nor keep what waits from being written.
    }
  }

  async function writeAll(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, batchSize(waiting.length));
      await insert(batch.map(({ record }) => record));
      isSlow = false;
      for (const { done } of batch) done();
    }
    isWriting = false;
  }

  async function insert(records: readonly AuditRecord[]): Promise<void> {
    try {
      await store.insert(records);
    } catch (exception) {
      // One that the store does not take must not keep the others out of it.
      if (records.length > 1 && !store.isUnavailable(exception)) {
        for (const record of records) await insert([record]);
      } else {
        for (const record of records) sayInstead(record, exception);
      }
    }
  }

  return (record) => {
    if (waiting.length >= MOST_WAITING) {
      sayInstead(record, new Error(`${MOST_WAITING} events wait for the store`));
      return Promise.resolve();
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    const tooLate = () => {
      isSlow = true;
      sayInstead(record, new Error('the store did not take it in time; it may be kept later'));
      resolve();
    };
    const timer = isSlow ? null : setTimeout(tooLate, LONGEST_WAIT);
    const done = () => {
      if (timer !== null) clearTimeout(timer);
      resolve();
    };
    waiting.push({ record, done });
    if (timer === null) tooLate();
    if (!isWriting) void writeAll();
    return promise;
  };
}

/** A power of two, so that there are few different statements. */
function batchSize(waiting: number): number {
  return Math.min(LARGEST_BATCH, 2 ** Math.floor(Math.log2(waiting)));
}
