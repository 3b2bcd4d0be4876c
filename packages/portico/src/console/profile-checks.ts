import { ID_TOKEN_ALGORITHMS } from '../profiles/fapi2.ts';
import { createProfiles, FAPI2 } from '../profiles/profiles.ts';
import type { Client } from '../store/client.ts';
import { failing, ok, warning, type Finding } from './checks.ts';
import { livingClients } from './every-client.ts';
import type { Subject } from './subject.ts';

/** Empty if no client is held to a profile, or if the clients cannot be read, which the check of the schema reports. */
export async function examineProfile({ server }: Subject): Promise<readonly Finding[]> {
  const { config } = server;
  const profiles = createProfiles(config);
  let governed = 0;
  const refused = await livingClients(server, (client) => {
    if (!profiles.governs(client)) return false;
    governed += 1;
    return profiles.refusal(client) !== null;
  }).catch((): readonly Client[] => []);
  if (!profiles.isServers && governed === 0) return [];
  const keys = profiles.isServers ? await server.keys.all() : [];
  if (
    profiles.isServers &&
    !keys.some(({ algorithm }) => ID_TOKEN_ALGORITHMS.some((each) => each === algorithm))
  ) {
    return [
      failing(
        `there is no signing key for ${ID_TOKEN_ALGORITHMS.join(' or ')} in ${config.key_path}, so openid cannot be granted`,
        `run npx portico oauth:keys:generate --alg ${ID_TOKEN_ALGORITHMS[0]}`,
      ),
    ];
  }
  if (refused.length > 0) {
    const isOwn = refused.some(({ profile }) => profile !== null);
    const told = refused.map((client) => `${client.id}: ${profiles.refusal(client)}`);
    return [
      (isOwn ? failing : warning)(
        `clients that are given nothing: ${told.join('; ')}`,
        'switch on what is missing, or register them anew (oauth:client:create --profile fapi2)',
      ),
    ];
  }
  const whose = profiles.isServers ? 'every client is held to' : `${governed} held to`;
  return [ok(`${whose} ${FAPI2}`)];
}
