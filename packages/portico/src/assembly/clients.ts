import type { OwnAssertions } from '../clients/client-assertions.ts';
import { ClientAuthentication, ClientProofs } from '../clients/authentication.ts';
import { Clients, type FindClient } from '../clients/clients.ts';
import { ClientSecrets } from '../clients/secrets.ts';
import type { Server } from '../server.ts';
import type { Client } from '../store/client.ts';
import type { Contributions } from './start-features.ts';

export class ClientParts {
  readonly clients: Clients;
  readonly secrets: ClientSecrets;
  readonly #server: Server;
  readonly #proofs: ClientProofs;
  readonly #ofKeys: OwnAssertions | null;

  constructor(server: Server, contributions: Contributions) {
    const { clientSource, clientAssertions, workloads, logos, secretHasher } = contributions;
    this.#server = server;
    this.clients = new Clients(server, logos, clientSource);
    this.secrets = new ClientSecrets(secretHasher ?? server.host.passwordHasher, server.clock);
    const ofKeys = clientAssertions?.(clientSource) ?? null;
    this.#ofKeys = ofKeys;
    this.#proofs = new ClientProofs(server, this.secrets, [
      ...workloads,
      ...(ofKeys === null ? [] : [ofKeys]),
    ]);
  }

  async keyProblems(client: Client): Promise<readonly string[]> {
    const { keys } = client;
    return keys === null || keys.workload !== undefined
      ? []
      : ((await this.#ofKeys?.problems({ ...client, keys })) ?? []);
  }

  /** Authenticates clients at the endpoints with these paths. */
  authenticating(findClient: FindClient, ...paths: readonly string[]): ClientAuthentication {
    return new ClientAuthentication(this.#server, this.#proofs, findClient, paths);
  }
}
