import { RegistrationError } from '../errors.ts';
import type { Server } from '../server.ts';
import type { ClientMetadata } from '../store/client.ts';
import { unmetProblem } from '../store/client-demands.ts';
import { checkRegistration, type ClientRegistration } from './registration.ts';

/** The server accepts no client keys. */
export const NO_KEYS = 'oauth_server:private_key_jwt is off; set it to true first';

const NO_WORKLOADS = 'oauth_server:workload_identity is off; set it to true first';

/**
 * Checks a client registration by an operator and adds its defaults. Throws a RegistrationError
 * that explains the problem, for example if the registration needs a feature that is off.
 */
export async function checkNewClient(
  registration: ClientRegistration,
  server: Server,
): Promise<ClientMetadata> {
  const checked = await checkRegistration(registration, server);
  if (checked.keys?.workload !== undefined) {
    if (server.workloadTypes().length === 0) throw new RegistrationError(NO_WORKLOADS);
  } else if (checked.keys !== null && !server.takesKeys()) throw new RegistrationError(NO_KEYS);
  const unmet = unmetProblem(server.demands, checked);
  if (unmet !== null) throw new RegistrationError(unmet);
  return checked;
}
