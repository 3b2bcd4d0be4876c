import { pendingSteps } from '@portico/sql';
import { failing, type Check } from './checks.ts';
import { livingClients } from './every-client.ts';
import type { Subject } from './subject.ts';

/**
 * Finds active clients that cannot get tokens, because they require a feature that is off. Another
 * check examines clients with a security profile. Document clients are skipped, because their
 * documents are fetched again before use.
 */
export async function examineClientDemands({
  application,
  server,
}: Subject): Promise<readonly Check[]> {
  if (pendingSteps(await application.migrations()).length > 0) return [];
  const off = server.demands
    .filter(({ isMet }) => !isMet)
    .toSorted((one, other) => (one.key < other.key ? -1 : 1));
  if (off.length === 0) return [];
  const own = await livingClients(
    server,
    (client) =>
      client.profile === null &&
      client.registeredBy !== 'document' &&
      off.some(({ field }) => client[field]),
  );
  return off.flatMap(({ key, effect, field }) => {
    const demanding = own.filter((client) => client[field]);
    if (demanding.length === 0) return [];
    const ids = demanding.map(({ id }) => id).join(', ');
    return [
      {
        part: 'client demands',
        ...failing(
          `oauth_server:${key} is off, so ${effect}: ${ids}`,
          'set it to "accept". Or revoke these clients (npx portico oauth:client:revoke) and ' +
            'register them again without this requirement',
        ),
      },
    ];
  });
}
