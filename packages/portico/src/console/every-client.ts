import type { AuthorizationServer } from '../authorization-server.ts';
import { clientPages } from '../clients/listing.ts';
import type { Client } from '../store/client.ts';

/** Yields all clients, ordered by id. Keeps only one page in memory. */
export async function* everyClient({ clients }: AuthorizationServer): AsyncGenerator<Client, void> {
  for await (const { items } of clientPages(clients)) yield* items;
}

/** Returns the active clients that `applies` accepts, oldest first. */
export async function livingClients(
  server: AuthorizationServer,
  applies: (client: Client) => boolean,
): Promise<readonly Client[]> {
  const found: Client[] = [];
  // Awaiting each client separately would take longer than reading it.
  for await (const { items } of clientPages(server.clients))
    found.push(...items.filter((client) => client.revokedAt === null && applies(client)));
  return found.toSorted((one, other) => one.createdAt - other.createdAt);
}
