import { RegistrationError } from '../errors.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { Profiles } from '../profiles/profiles.ts';
import type { ScopeCatalog } from '../tokens/scopes.ts';
import { unmetProblem, type ClientDemand } from './demands.ts';
import { checkRegistration, type CheckedRegistration, type ClientRegistration } from './registration.ts';
import { NO_KEYS } from './updating.ts';

/** What an operator says of a new client, checked and completed. Throws a RegistrationError that says what is wrong. */
export type CheckNewClient = (registration: ClientRegistration) => Promise<CheckedRegistration>;

export interface CheckingOptions {
  readonly scopes: ScopeCatalog;
  readonly keys: Pick<KeyRing, 'all' | 'algorithms'>;
  /** Whether clients may have keys of their own (`oauth_server:private_key_jwt`). */
  readonly takesKeys: boolean;
  readonly demands: readonly ClientDemand[];
  readonly profiles: Profiles;
  /** Whether key sets are fetched from any port: while developing; false unless given. */
  readonly anyPort?: boolean;
}

/** The rules of a registration, and those of what is switched off. */
export function createChecking(options: CheckingOptions): CheckNewClient {
  const { scopes, keys, takesKeys, demands, profiles, anyPort = false } = options;
  return async (registration) => {
    const checked = await checkRegistration(registration, scopes, keys, profiles, { anyPort });
    if (checked.keys !== null && !takesKeys) throw new RegistrationError(NO_KEYS);
    const unmet = unmetProblem(demands, checked);
    if (unmet !== null) throw new RegistrationError(unmet);
    return checked;
  };
}
