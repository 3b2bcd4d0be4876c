import { RegistrationError } from '../errors.ts';
import type { KeyRing } from '../keys/key-ring.ts';
import type { Profiles } from '../profiles/profiles.ts';
import type { ScopeCatalog } from '../tokens/scopes.ts';
import { checkRegistration, type CheckedRegistration, type ClientRegistration } from './registration.ts';
import { NO_KEYS } from './updating.ts';

/** What an operator says of a new client, checked and completed. Throws a RegistrationError that says what is wrong. */
export type CheckNewClient = (registration: ClientRegistration) => Promise<CheckedRegistration>;

export interface CheckingOptions {
  readonly scopes: ScopeCatalog;
  readonly keys: Pick<KeyRing, 'all'>;
  /** Whether clients may have keys of their own (`oauth_server:private_key_jwt`). */
  readonly takesKeys: boolean;
  /** Whether they may push their requests (`oauth_server:pushed_authorization_requests`). */
  readonly takesPushed: boolean;
  /** Whether clients may demand bound tokens (`oauth_server:dpop`). */
  readonly takesDpop: boolean;
  readonly profiles: Profiles;
  /** Whether key sets are fetched from any port: while developing; false unless given. */
  readonly anyPort?: boolean;
}

/** The rules of a registration, and those of what is switched off. */
export function createChecking(options: CheckingOptions): CheckNewClient {
  const { scopes, keys, takesKeys, takesPushed, takesDpop, profiles, anyPort = false } = options;
  return async (registration) => {
    const checked = await checkRegistration(registration, scopes, keys, profiles, { anyPort });
    if (checked.keys !== null && !takesKeys) throw new RegistrationError(NO_KEYS);
    if (checked.pushesRequests && !takesPushed) {
      throw new RegistrationError(
        'oauth_server:pushed_authorization_requests is off; set it to accept or require first',
      );
    }
    if (checked.dpopBoundAccessTokens && !takesDpop) {
      throw new RegistrationError('oauth_server:dpop is off; set it to accept first');
    }
    return checked;
  };
}
