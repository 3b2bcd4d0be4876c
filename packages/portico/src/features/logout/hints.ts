import { readOwnIdToken, type OwnIdToken } from '../../authorization/id-token-hint.ts';
import type { Clients } from '../../clients/clients.ts';
import type { Server } from '../../server.ts';
import type { Client } from '../../store/client.ts';

/**
 * The content of a valid `id_token_hint`. It proves that this server issued an ID token for this
 * user to this client.
 */
export interface IdTokenHint extends OwnIdToken {
  readonly client: Client;
}

/** Reads the ID tokens that clients send as `id_token_hint` (RP-Initiated Logout section 2). */
export class IdTokenHints {
  readonly #server: Server;
  readonly #clients: Clients;

  constructor(server: Server, clients: Clients) {
    this.#server = server;
    this.#clients = clients;
  }

  /**
   * Returns the content of an ID token that this server issued to an existing client, or null.
   * Accepts an expired token only if the server still publishes its key.
   */
  async read(text: string): Promise<IdTokenHint | null> {
    const token = await readOwnIdToken(this.#server, text);
    if (token === null) return null;
    const client = await this.#clients.find(token.clientId);
    return client === null || client.revokedAt !== null ? null : { ...token, client };
  }
}
