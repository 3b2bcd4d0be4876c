import { RegistrationError } from '../errors.ts';
import type { Server } from '../server.ts';
import type { ClientMetadata } from '../store/client.ts';
import { unmetProblem } from '../store/client-demands.ts';
import { checkRegistration, type ClientRegistration } from './registration.ts';

/** Told of keys that are named, while none are taken. */
export const NO_KEYS = 'oauth_server:private_key_jwt is off; set it to true first';

/**
 * What an operator says of a new client, checked and completed: also for what is switched off.
 * Throws a RegistrationError that says what is wrong.
 */
export async function checkNewClient(
  registration: ClientRegistration,
  server: Server,
): Promise<ClientMetadata> {
  const checked = await checkRegistration(registration, server);
  if (checked.keys !== null && !server.takesKeys()) throw new RegistrationError(NO_KEYS);
  const unmet = unmetProblem(server.demands, checked);
  if (unmet !== null) throw new RegistrationError(unmet);
  return checked;
}
