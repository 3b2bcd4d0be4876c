import { pendingSteps } from '../../sql/migrations.ts';
import { iterationsOf } from '../clients/imported-secrets.ts';
import type { Client } from '../store/client.ts';
import { failing, type Check } from './checks.ts';
import { livingClients } from './every-client.ts';
import type { Subject } from './subject.ts';

/** Clients whose imported secret takes more iterations of PBKDF2 than are configured, and is never right. Nothing is said where there are none. */
export async function examineImportedSecrets({ application, server }: Subject): Promise<readonly Check[]> {
  if (pendingSteps(await application.migrations()).length > 0) return [];
  const configured = server.config.imported_pbkdf2_iterations ?? 0;
  const needed = ({ secretHash }: Client) => (secretHash === null ? 0 : iterationsOf(secretHash));
  const locked = await livingClients(server, (client) => needed(client) > configured);
  if (locked.length === 0) return [];
  return [
    {
      part: 'imported secrets',
      ...failing(
        `The secret of these takes more iterations of PBKDF2 than the ${configured} that are configured, so it is refused: ${locked.map(({ id }) => id).join(', ')}`,
        `set oauth_server:imported_pbkdf2_iterations to ${Math.max(...locked.map(needed))}; or give each a new secret (npx portico oauth:client:rotate-secret)`,
      ),
    },
  ];
}
