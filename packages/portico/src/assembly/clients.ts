import { ClientAuthentication, ClientProofs } from '../clients/authentication.ts';
import { Clients, type FindClient } from '../clients/clients.ts';
import { ClientSecrets } from '../clients/secrets.ts';
import type { Server } from '../server.ts';
import type { Client } from '../store/client.ts';
import type { Contributions } from './start-features.ts';

/** Builds the parts for clients, from registration to authentication. */
export class ClientParts {
  readonly clients: Clients;
  readonly secrets: ClientSecrets;
  readonly #server: Server;
  readonly #proofs: ClientProofs;

  constructor(server: Server, contributions: Contributions) {
    const { clientSource, clientAssertions, logos, secretHasher } = contributions;
    this.#server = server;
    this.clients = new Clients(server, logos);
    this.secrets = new ClientSecrets(secretHasher ?? server.host.passwordHasher, server.clock);
    this.#proofs = new ClientProofs(server, this.secrets, clientAssertions?.(clientSource) ?? null);
  }

  /** Returns the current problems of the keys that the client authenticates with. */
  async keyProblems(client: Client): Promise<readonly string[]> {
    const { keys } = client;
    return keys === null
      ? []
      : ((await this.#proofs.assertions?.problems({ ...client, keys })) ?? []);
  }

  /** Returns the authentication of these clients at the endpoints with these paths. */
  authenticating(findClient: FindClient, ...paths: readonly string[]): ClientAuthentication {
    return new ClientAuthentication(this.#server, this.#proofs, findClient, paths);
  }
}
