import type { Argon2idOptions, PasswordHasher } from 'portico';
import { createArgon2id, findNetwork } from 'portico/extension';
import { currentAddress } from './request-context.ts';

/**
 * Hashes passwords with argon2id and the parameters that OWASP recommends: 46 MiB, one pass, one
 * lane. Hashes are PHC strings. Networks take turns, so a hash waits only for earlier hashes from
 * the same network.
 */
export function argon2idHasher(options: Argon2idOptions = {}): PasswordHasher {
  return createArgon2id(options, () => findNetwork(currentAddress()));
}
