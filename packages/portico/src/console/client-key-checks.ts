import { pendingSteps } from '@portico/sql';
import type { Client } from '../store/client.ts';
import { failing, ok, warning, type Check, type Finding } from './checks.ts';
import { livingClients } from './every-client.ts';
import type { Subject } from './subject.ts';

/**
 * Checks the clients with their own keys, without fetching keys. Returns nothing if there are none,
 * or if a migration is missing.
 */
export async function examineClientKeys({
  application,
  server,
}: Subject): Promise<readonly Check[]> {
  if (pendingSteps(await application.migrations()).length > 0) return [];
  const having = await clientsWithKeys(server);
  return having.length === 0 ? [] : [{ part: 'client keys', ...(await judge(server, having)) }];
}

async function judge(server: Subject['server'], having: readonly Client[]): Promise<Finding> {
  if (!server.takesKeys) {
    return failing(
      'oauth_server:private_key_jwt is off, so these clients cannot authenticate: ' +
        having.map(({ id }) => id).join(', '),
      'set it to true. Or revoke these clients (npx portico oauth:client:revoke) and ' +
        'register them again with a secret',
    );
  }
  const kept = having.filter(({ keys }) => keys?.jwksUri === null);
  const published = having.length - kept.length;
  const elsewhere =
    published === 0
      ? ''
      : `; ${published} of them publish their keys (to check these keys, add --online)`;
  return (
    (await wrongKeys(server, kept)) ??
    ok(`clients that authenticate with private_key_jwt: ${having.length}${elsewhere}`)
  );
}

/** Fetches and checks the keys that clients publish at a URL. */
export async function examinePublishedKeys(server: Subject['server']): Promise<readonly Finding[]> {
  if (!server.takesKeys) return [];
  const publishing = (await clientsWithKeys(server)).filter(({ keys }) => keys?.jwksUri !== null);
  if (publishing.length === 0) return [];
  return [
    (await wrongKeys(server, publishing)) ??
      ok(`clients whose keys were fetched: ${publishing.length}`),
  ];
}

/** Document clients are skipped, because their documents are fetched again before use. */
function clientsWithKeys(server: Subject['server']): Promise<readonly Client[]> {
  return livingClients(
    server,
    ({ keys, registeredBy }) =>
      keys !== null && keys.workload === undefined && registeredBy !== 'document',
  );
}

async function wrongKeys(
  server: Subject['server'],
  clients: readonly Client[],
): Promise<Finding | null> {
  const found: string[] = [];
  // One request at a time.
  for (const client of clients) {
    const problems = await server.clientKeyProblems(client);
    if (problems.length > 0) found.push(`the keys of ${client.id}: ${problems.join('; ')}`);
  }
  if (found.length === 0) return null;
  return warning(
    found.join('. '),
    "tell the client's operator. Until Portico can use the keys, the client cannot authenticate",
  );
}
