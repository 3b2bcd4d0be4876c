import type { AuthorizationServer } from '../authorization-server.ts';
import { clientPages } from '../clients/listing.ts';
import type { Client } from '../store/client.ts';

/** Yields all clients of the server, ordered by id. Keeps only one page in memory. */
export async function* everyClient({ clients }: AuthorizationServer): AsyncGenerator<Client, void> {
  for await (const { items } of clientPages(clients)) yield* items;
}

/** Returns the clients that are not revoked and that `applies` accepts, oldest first. */
export async function livingClients(
  server: AuthorizationServer,
  applies: (client: Client) => boolean,
): Promise<readonly Client[]> {
  const found: Client[] = [];
  for await (const client of everyClient(server)) {
    if (client.revokedAt === null && applies(client)) found.push(client);
  }
  return found.toSorted((one, other) => one.createdAt - other.createdAt);
}
