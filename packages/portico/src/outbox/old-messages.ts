import type { ExpiringRows } from '../store/pruning.ts';
import type { Outbox } from './outbox.ts';

declare module '../store/pruning.ts' {
  interface PrunedRows {
    /**
     * The number of messages in the outbox that could not be delivered and were removed. It is
     * missing if no feature sends messages.
     */
    readonly outboxMessages?: number;
  }
}

/** The number of rows per batch. */
const BATCH = 100;

/** Describes the undelivered messages that were stored for operators for a week. */
export function oldMessages(outbox: Outbox): ExpiringRows {
  return {
    kind: 'outboxMessages',
    called: 'outbox messages',
    which: 'could not be delivered',
    batch: BATCH,
    remove: (limit) => outbox.removeOld(limit),
  };
}
