import type { ExpiringRows } from '../store/pruning.ts';
import type { Outbox } from './outbox.ts';

declare module '../store/pruning.ts' {
  interface PrunedRows {
    /**
     * The number of messages in the outbox that could not be delivered and were removed. Missing if
     * no feature sends messages.
     */
    readonly outboxMessages?: number;
  }
}

/** How many messages to remove at once. */
const BATCH = 100;

/** Returns the messages that were kept for operators for a week. */
export function oldMessages(outbox: Outbox): ExpiringRows {
  return {
    kind: 'outboxMessages',
    called: 'outbox messages',
    which: 'could not be delivered',
    batch: BATCH,
    remove: (limit) => outbox.removeOld(limit),
  };
}
