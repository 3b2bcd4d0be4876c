import type { Argon2idOptions, PasswordHasher } from 'portico';
import { createArgon2id, findNetwork } from 'portico/extension';
import { currentAddress } from './request-context.ts';

/**
 * Hashes with argon2id and parameters that OWASP recommends: 46 MiB, one pass, one lane. Hashes are
 * PHC strings. Networks take turns: a hash waits only for earlier hashes from its own network.
 */
export function argon2idHasher(options: Argon2idOptions = {}): PasswordHasher {
  return createArgon2id(options, () => findNetwork(currentAddress()));
}
