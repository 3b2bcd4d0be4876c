import { ok, warning, type Finding } from '@portico/sql';
import type { Examination } from '../examination.ts';
import type { Outbox } from './outbox.ts';

/** Reports messages that could not be delivered. */
export function examineOutbox(outbox: Outbox): Examination {
  return {
    part: 'outbox',
    of: 'clients',
    async findings(): Promise<readonly Finding[]> {
      const counts = await outbox.counts();
      if (counts === null) return [];
      const { waiting, undelivered, dropped } = counts;
      if (undelivered === 0 && dropped === 0)
        return [ok(`${waiting} messages are waiting for delivery`)];
      return [
        warning(
          `${undelivered} messages could not be delivered, and ${dropped} were dropped ` +
            `because their receiver's queue was full; ${waiting} are waiting`,
          'run npx portico oauth:outbox to see the reasons, then run oauth:outbox:retry or ' +
            'oauth:outbox:discard',
        ),
      ];
    },
  };
}
