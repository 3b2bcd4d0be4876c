import type { AuthorizationServer } from '../authorization-server.ts';
import type { SecurityProfile } from '../profiles.ts';
import type { Client } from '../store/client.ts';
import { failing, ok, warning, type Finding } from './checks.ts';
import { livingClients } from './every-client.ts';
import type { Subject } from './subject.ts';

/**
 * Checks that the server and its clients meet their security profile. Returns nothing if there is
 * no profile. The schema check reports clients that cannot be read.
 */
export async function examineProfile({ server }: Subject): Promise<readonly Finding[]> {
  const { profiles } = server;
  const { servers } = profiles;
  const names = new Set<string | null>();
  let held = 0;
  const refused = await livingClients(server, (client) => {
    if (profiles.of(client) === null) return false;
    held += 1;
    names.add(client.profile);
    return profiles.refusal(client) !== null;
  }).catch((): readonly Client[] => []);
  if (servers === null && held === 0) return [];
  const missing = servers === null ? null : await missingKey(server, servers);
  if (missing !== null) return [missing];
  if (refused.length > 0) {
    const own = refused.find(({ profile }) => profile !== null);
    const told = refused.map((client) => `${client.id}: ${profiles.refusal(client)}`);
    const name = own?.profile ?? servers?.name;
    return [
      (own === undefined ? warning : failing)(
        `these clients cannot get tokens, because they do not meet their profile: ${told.join('; ')}`,
        'turn on the missing features. Or register the clients again (oauth:client:create ' +
          `--profile ${name})`,
      ),
    ];
  }
  return [
    ok(
      servers === null
        ? `clients that must meet a profile: ${held} (${[...names].join(', ')}); all of them do`
        : `every client must meet the profile ${servers.name}; clients checked: ${held}`,
    ),
  ];
}

/** Returns a finding if no signing key has an algorithm that the profile allows for ID tokens. */
async function missingKey(
  { config, keys }: AuthorizationServer,
  { idTokenAlgorithms: algorithms }: SecurityProfile,
): Promise<Finding | null> {
  const known = await keys.all();
  if (known.some(({ algorithm }) => algorithms.includes(algorithm))) return null;
  return failing(
    `there is no signing key for ${algorithms.join(' or ')} in ${config.key_path}, so ` +
      'requests for openid fail',
    `run npx portico oauth:keys:generate --alg ${algorithms[0]}`,
  );
}
