import type { Server } from '../server.ts';
import type { Client } from '../store/client.ts';

/** Record each client's use at most once in this time, in milliseconds (one day). */
const BETWEEN_TWO = 86_400_000;

/** Records when each client was last used. Ignores clients that an operator registered. */
export class LastUse {
  readonly #server: Server;

  constructor(server: Server) {
    this.#server = server;
  }

  /**
   * Returns null if there is nothing to record. The promise never rejects: the request succeeds
   * even if the use cannot be recorded.
   */
  record({ id, registeredBy, usedAt }: Client): Promise<void> | null {
    if (registeredBy === 'operator') return null;
    const now = this.#server.clock();
    return usedAt === null || usedAt <= now - BETWEEN_TWO ? this.#note(id, now) : null;
  }

  /**
   * Records that a person allows the client. Returns null if there is nothing to record.
   *
   * Rejects if this is the first use of an unverified client and it cannot be recorded. Without the
   * record, this client could still change its redirect URIs.
   */
  recordAllowed(client: Client): Promise<void> | null {
    const { id, registeredBy, usedAt } = client;
    if (registeredBy === 'operator' || usedAt !== null) return this.record(client);
    const { store, clock } = this.#server;
    return store.clients.noteClientUse(id, clock());
  }

  async #note(clientId: string, now: number): Promise<void> {
    const { store, host } = this.#server;
    try {
      await store.clients.noteClientUse(clientId, now);
    } catch (exception) {
      host.log.warning('The last use of the client {clientId} could not be stored: {exception}', {
        clientId,
        exception,
      });
    }
  }
}
