import type { AuthorizationServer, Client, ExaminedApplication, Finding } from 'portico';
import { everyClient, failing, livingClients, pendingSteps } from 'portico/extension';
import { createImportedSecrets, isImported, readIterations } from './imported-secrets.ts';

/** The maximum number of secrets that the doctor checks. Each check computes a slow hash. */
const MOST_TRIED = 500;

/**
 * Reports imported secrets that can never work, because they need too many iterations or are empty.
 * Returns an empty list if there are none, or if a migration is missing.
 */
export async function examineImportedSecrets(
  application: ExaminedApplication,
  server: AuthorizationServer,
): Promise<readonly Finding[]> {
  if (pendingSteps(await application.migrations()).length > 0) return [];
  return [...(await tooSlow(server)), ...(await empty(server))];
}

async function tooSlow(server: AuthorizationServer): Promise<readonly Finding[]> {
  const configured = server.config.imported_pbkdf2_iterations ?? 0;
  const needed = ({ secretHash }: Client) => (secretHash === null ? 0 : readIterations(secretHash));
  const locked = await livingClients(server, (client) => needed(client) > configured);
  if (locked.length === 0) return [];
  return [
    failing(
      'these clients cannot authenticate, because their secrets need more PBKDF2 iterations ' +
        `than the configured maximum (${configured}): ${locked.map(({ id }) => id).join(', ')}`,
      `set oauth_server:imported_pbkdf2_iterations to ${Math.max(...locked.map(needed))}. Or ` +
        'give each client a new secret (npx portico oauth:client:rotate-secret)',
    ),
  ];
}

async function empty(server: AuthorizationServer): Promise<readonly Finding[]> {
  const { imported_pbkdf2_iterations: iterations = 0 } = server.config;
  const hasher = createImportedSecrets(server.host.passwordHasher, iterations);
  const open: string[] = [];
  for (const { id, secretHash } of await likelyImported(server)) {
    if (secretHash !== null && (await hasher.verify('', secretHash))) open.push(id);
  }
  if (open.length === 0) return [];
  return [
    failing(
      'these clients have an empty secret, which earlier releases accepted from anyone (this ' +
        `release refuses it): ${open.join(', ')}`,
      'check what these clients did (npx portico oauth:audit), and revoke access that they ' +
        'should not have. Give each client a new secret (npx portico ' +
        'oauth:client:rotate-secret --now)',
    ),
  ];
}

/**
 * Returns clients that may have been imported, up to the limit. Clients with an imported hash or
 * another server's id come first, followed by other clients that an operator registered with a
 * secret.
 */
async function likelyImported(server: AuthorizationServer): Promise<readonly Client[]> {
  const [likely, others]: [Client[], Client[]] = [[], []];
  for await (const client of everyClient(server)) {
    const { id, secretHash, registeredBy, revokedAt } = client;
    if (secretHash === null || revokedAt !== null || registeredBy !== 'operator') continue;
    const isForeign = isImported(secretHash) || !/^[0-9a-f]{32}$/.test(id);
    const kept = isForeign ? likely : others;
    if (kept.length < MOST_TRIED) kept.push(client);
  }
  return [...likely, ...others].slice(0, MOST_TRIED);
}
