import { pendingSteps } from '../../sql/migrations.ts';
import type { Client } from '../store/client.ts';
import { failing, type Check } from './checks.ts';
import { livingClients } from './every-client.ts';
import type { Subject } from './subject.ts';

/** What a client may demand for its own protection, and the key that has to be on for it. */
const DEMANDS = [
  [
    'dpop',
    'nobody gets the bound tokens that these demand',
    (client: Client) => client.dpopBoundAccessTokens,
  ],
  [
    'pushed_authorization_requests',
    'nobody gets further with these, which push their requests',
    (client: Client) => client.pushesRequests,
  ],
] as const;

/**
 * Clients that demand what is switched off, and are given nothing without it. Nothing is said where there are none. Those of a profile have a
 * check of their own; those that are documents are read anew when somebody comes with one.
 */
export async function examineClientDemands({ application, server }: Subject): Promise<readonly Check[]> {
  if (pendingSteps(await application.migrations()).length > 0) return [];
  const off = DEMANDS.filter(([key]) => (server.config[key] ?? 'off') === 'off');
  if (off.length === 0) return [];
  const own = await livingClients(
    server,
    (client) =>
      client.profile === null &&
      client.registeredBy !== 'document' &&
      off.some(([, , demands]) => demands(client)),
  );
  return off.flatMap(([key, effect, demands]) => {
    const demanding = own.filter(demands);
    if (demanding.length === 0) return [];
    const ids = demanding.map(({ id }) => id).join(', ');
    return [
      {
        part: 'client demands',
        ...failing(
          `oauth_server:${key} is off, so ${effect}: ${ids}`,
          'set it to accept; or revoke them (npx portico oauth:client:revoke) and register them anew, without the demand',
        ),
      },
    ];
  });
}
