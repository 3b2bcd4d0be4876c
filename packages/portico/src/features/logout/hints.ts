import { readOwnIdToken, type OwnIdToken } from '../../authorization/id-token-hint.ts';
import type { Clients } from '../../clients/clients.ts';
import type { Server } from '../../server.ts';
import type { Client } from '../../store/client.ts';

/**
 * The content of a valid `id_token_hint`, which proves that this server issued the token for this
 * user and client.
 */
export interface IdTokenHint extends OwnIdToken {
  readonly client: Client;
}

/** Reads ID tokens that clients send back as a hint (RP-Initiated Logout section 2). */
export class IdTokenHints {
  readonly #server: Server;
  readonly #clients: Clients;

  constructor(server: Server, clients: Clients) {
    this.#server = server;
    this.#clients = clients;
  }

  /**
   * Returns the content of an ID token that this server issued to a client that still exists. The
   * token may have expired, but its key must still be published. Returns null for any other string.
   */
  async read(text: string): Promise<IdTokenHint | null> {
    const token = await readOwnIdToken(this.#server, text);
    if (token === null) return null;
    const client = await this.#clients.find(token.clientId);
    return client === null || client.revokedAt !== null ? null : { ...token, client };
  }
}
