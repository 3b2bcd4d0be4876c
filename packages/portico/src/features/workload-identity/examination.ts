import { failing, ok, type Finding } from '@portico/sql';
import type { Clients } from '../../clients/clients.ts';
import { clientPages } from '../../clients/listing.ts';
import type { TrustedIssuers } from '../../keys/assertions/trusted-issuers.ts';

/** Reports workloads that cannot authenticate, or the number of workloads if all can. */
export async function examineWorkloads(
  clients: Clients,
  issuers: TrustedIssuers,
  isOn: boolean,
): Promise<readonly Finding[]> {
  let count = 0;
  const refused: string[] = [];
  for await (const { items } of clientPages(clients)) {
    for (const { id, keys, revokedAt } of items) {
      if (revokedAt !== null || keys?.workload === undefined) continue;
      count += 1;
      if (!isOn || !issuers.trusts(keys.workload.issuer, 'clients')) refused.push(id);
    }
  }
  if (count === 0) return [];
  if (refused.length === 0) return [ok(`clients that authenticate as workloads: ${count}`)];
  const clientsThen = `so these clients cannot authenticate: ${refused.join(', ')}`;
  return [
    isOn
      ? failing(
          `the issuer of these workloads is not trusted to authenticate clients, ${clientsThen}`,
          "add the issuer to oauth_server:trusted_issuers with asserts: ['clients'], or revoke " +
            'these clients (npx portico oauth:client:revoke)',
        )
      : failing(
          `oauth_server:workload_identity is off, ${clientsThen}`,
          'set oauth_server:workload_identity to true, or revoke these clients (npx portico ' +
            'oauth:client:revoke)',
        ),
  ];
}
