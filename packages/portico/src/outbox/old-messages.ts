import type { ExpiringRows } from '../store/pruning.ts';
import type { Outbox } from './outbox.ts';

declare module '../store/pruning.ts' {
  interface PrunedRows {
    /**
     * How many undelivered messages were removed from the outbox. Missing if no feature sends
     * messages.
     */
    readonly outboxMessages?: number;
  }
}

const BATCH = 100;

/** Undelivered messages are removed a week after the outbox has given up on them. */
export function oldMessages(outbox: Outbox): ExpiringRows {
  return {
    kind: 'outboxMessages',
    called: 'outbox messages',
    which: 'could not be delivered',
    batch: BATCH,
    remove: (limit) => outbox.removeOld(limit),
  };
}
