import type { Log } from '@portico/sql';
import type { Client } from '../store/client.ts';
import type { ClientRecords } from '../store/sql/clients.ts';

/** A day, in milliseconds. */
const BETWEEN_TWO = 86_400_000;

/**
 * Records that a client is used: at most once a day, and only for a client that no operator
 * registered. Never rejects, because the request has succeeded already. Null when there is nothing
 * to wait for.
 */
export type RecordUse = (client: Pick<Client, 'id' | 'registeredBy' | 'usedAt'>) => Promise<void> | null;

export interface RecordUseOptions {
  readonly store: ClientRecords;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly log: Log;
}

export function createRecordUse({ store, clock, log }: RecordUseOptions): RecordUse {
  async function note(clientId: string, now: number): Promise<void> {
    try {
      await store.noteClientUse(clientId, now);
    } catch (exception) {
      log.warning('The use of client {clientId} could not be written down: {exception}', {
        clientId,
        exception,
      });
    }
  }

  return ({ id, registeredBy, usedAt }) => {
    if (registeredBy === 'operator') return null;
    const now = clock();
    return usedAt === null || usedAt <= now - BETWEEN_TWO ? note(id, now) : null;
  };
}
