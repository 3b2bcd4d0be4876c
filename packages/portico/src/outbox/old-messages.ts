import type { ExpiringRows } from '../store/pruning.ts';
import type { Outbox } from './outbox.ts';

declare module '../store/pruning.ts' {
  interface PrunedRows {
    /**
     * The number of undelivered messages that were removed from the outbox. Missing if no feature
     * sends messages.
     */
    readonly outboxMessages?: number;
  }
}

const BATCH = 100;

/** The pruning of undelivered messages that are older than a week. */
export function oldMessages(outbox: Outbox): ExpiringRows {
  return {
    kind: 'outboxMessages',
    called: 'outbox messages',
    which: 'could not be delivered',
    batch: BATCH,
    remove: (limit) => outbox.removeOld(limit),
  };
}
